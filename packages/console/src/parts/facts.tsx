// Names and values, one under the other: what is known of one thing. Values that are missing are left out.

import type { ReactNode } from 'react'

export type Fact = readonly [name: string, value: ReactNode]

export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-[minmax(92px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-1">
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-sm leading-5 text-dim">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

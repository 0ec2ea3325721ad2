// The accounts in one line: everything that was accepted stands somewhere, or the difference is told.

import type { OperationOutput } from '../../api/client.ts'
import { count } from '../../format.ts'

export function LedgerLine({ counts }: { readonly counts: OperationOutput<'counts'> }) {
  const { accepted, succeeded, dead, discarded, cancelled, removed, queued, waiting, running } = counts
  const live = queued + waiting + running
  const difference = accepted - succeeded - dead - discarded - cancelled - removed - live
  const parts = [
    [succeeded, 'succeeded'],
    [dead, 'dead'],
    [discarded, 'discarded'],
    [cancelled, 'cancelled'],
    [live, 'live'],
    ...(removed === 0 ? [] : [[removed, 'removed by retention'] as const]),
  ] as const
  return (
    <p className="flex flex-wrap items-baseline gap-x-1.5 gap-y-1">
      <strong className="font-semibold">{count(accepted)}</strong> <span className="text-dim">accepted</span>
      {parts.map(([value, name], index) => (
        <span key={name} className="whitespace-nowrap">
          <span className="text-dim">{index === 0 ? '=' : '+'}</span> {count(value)}{' '}
          <span className="text-dim">{name}</span>
        </span>
      ))}
      {difference === 0 ? (
        <span className="ml-2 whitespace-nowrap text-succeeded">✓ adds up</span>
      ) : (
        <span className="ml-2 whitespace-nowrap text-dead">✕ {count(Math.abs(difference))} do not add up</span>
      )}
    </p>
  )
}

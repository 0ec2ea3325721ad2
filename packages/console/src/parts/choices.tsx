// A few choices of which one holds, kept in the address: which health, which range, which list.

import { useParam } from '../address.tsx'
import { count } from '../format.ts'

export interface Choice {
  readonly value: string
  readonly word: string
  /** How many there are of it. */
  readonly count?: number
}

export function Choices({
  label,
  param,
  missing = '',
  choices,
}: {
  readonly label: string
  /** The parameter of the address. */
  readonly param: string
  /** What holds if the address says nothing. */
  readonly missing?: string
  readonly choices: readonly Choice[]
}) {
  const [chosen, choose] = useParam(param, missing)
  return (
    <fieldset className="inline-flex min-w-0 flex-wrap gap-1">
      <legend className="sr-only">{label}</legend>
      {choices.map(({ value, word, count: some }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          className={`h-7 max-w-60 truncate rounded-sm px-2 text-sm ${
            value === chosen ? 'bg-accent-soft font-semibold text-accent' : 'text-dim hover:bg-sunken'
          }`}
          onClick={() => choose(value)}
        >
          <bdi>{word}</bdi>
          {some !== undefined && <span className="ml-1.5 font-normal">{count(some)}</span>}
        </button>
      ))}
    </fieldset>
  )
}

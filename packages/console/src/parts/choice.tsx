// One of a few, all of them in sight: filters, orders, ranges. Some are kept in the address: which health, which list. Where many
// would take half of a phone, the phone's own list.

import { useSyncExternalStore } from 'react'
import { useParam } from '../address.tsx'
import { count } from '../format.ts'

/** A value, its word, and how many there are of it. */
export type Option<Value extends string> = readonly [value: Value, word: string, count?: number | undefined]

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: string
  readonly options: readonly Option<Value>[]
  readonly onChange: (value: Value) => void
}

const FEW = 5
const PHONE = window.matchMedia('(width <= 480px)')

/** Whether this is a phone, also after it was turned. */
const useIsPhone = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      PHONE.addEventListener('change', listener)
      return () => PHONE.removeEventListener('change', listener)
    },
    () => PHONE.matches,
  )

export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  const isPhone = useIsPhone()
  if (isPhone && options.length > FEW) {
    return (
      <select
        aria-label={label}
        className="field w-auto max-w-full text-sm"
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
      >
        {!options.some(([one]) => one === value) && <option value={value}>{value}</option>}
        {options.map(([one, word, some]) => (
          <option key={one} value={one}>
            {some === undefined ? word : `${word} ${count(some)}`}
          </option>
        ))}
      </select>
    )
  }
  return (
    <fieldset className="flex min-w-0 flex-wrap gap-0.5 text-sm">
      <legend className="sr-only">{label}</legend>
      {options.map(([one, word, some]) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === value}
          className={`h-7 max-w-60 truncate rounded-sm px-2 ${one === value ? 'bg-accent-soft font-semibold text-accent' : 'text-dim hover:bg-sunken'}`}
          onClick={() => onChange(one)}
        >
          <bdi>{word}</bdi>
          {some !== undefined && <span className="ml-1.5 font-normal">{count(some)}</span>}
        </button>
      ))}
    </fieldset>
  )
}

interface AddressChoiceProps {
  readonly label: string
  /** The parameter of the address. */
  readonly param: string
  /** What holds if the address says nothing. */
  readonly missing?: string
  readonly choices: readonly { readonly value: string; readonly word: string; readonly count?: number }[]
}

export function AddressChoice({ label, param, missing = '', choices }: AddressChoiceProps) {
  const [chosen, choose] = useParam(param, missing)
  const options = choices.map(({ value, word, count: some }) => [value, word, some] as const)
  return <Choice label={label} value={chosen} options={options} onChange={choose} />
}

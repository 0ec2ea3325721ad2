// A choice that is kept in the address: which health, which range, which list.

import { useParam } from '../address.tsx'
import { Choice } from './choice.tsx'

interface ChoicesProps {
  readonly label: string
  /** The parameter of the address. */
  readonly param: string
  /** What holds if the address says nothing. */
  readonly missing?: string
  readonly choices: readonly { readonly value: string; readonly word: string; readonly count?: number }[]
}

export function Choices({ label, param, missing = '', choices }: ChoicesProps) {
  const [chosen, choose] = useParam(param, missing)
  return (
    <Choice
      label={label}
      value={chosen}
      options={choices.map(({ value, word, count }) => [value, word, count])}
      onChange={choose}
    />
  )
}

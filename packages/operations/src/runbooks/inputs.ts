// The inputs of a run: what was given, checked and in the types that the runbook asks for, with its defaults.

import { InvalidError } from '@reprise/core'
import type { Runbook } from '@reprise/orchestrator'

const INPUT_LENGTH_MAX = 10_000

/** What was given, in the types that the runbook asks for, with its defaults. */
export function checkedInputs(
  { inputs }: Runbook,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(inputs, name))
  if (unknown !== undefined) {
    throw new InvalidError(`There is no input '${unknown}'. Inputs are: ${Object.keys(inputs).join(', ') || 'none'}.`)
  }
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => {
      const value = values[name] ?? input.default
      if (value === undefined) throw new InvalidError(`The input '${name}' is needed: ${input.about}.`)
      return [name, checkedInput(name, input, value)]
    }),
  )
}

function checkedInput(name: string, { type, choices, min, max }: Runbook['inputs'][string], value: unknown): unknown {
  const refuse = (what: string): never => {
    throw new InvalidError(`The input '${name}' must be ${what}.`)
  }
  switch (type) {
    case 'number': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      if (typeof number !== 'number' || !Number.isFinite(number)) return refuse('a number')
      if (number < (min ?? number) || number > (max ?? number)) return refuse(`from ${min ?? 'any'} to ${max ?? 'any'}`)
      return number
    }
    case 'flag':
      if (value === true || value === 'true') return true
      return value === false || value === 'false' ? false : refuse('true or false')
    case 'json': {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (text.length > INPUT_LENGTH_MAX) return refuse(`at most ${INPUT_LENGTH_MAX} characters`)
      try {
        return JSON.parse(text) as unknown
      } catch {
        return refuse('JSON')
      }
    }
    case 'text':
      if (typeof value !== 'string' || value === '' || value.length > INPUT_LENGTH_MAX) return refuse('a text')
      if (/[\p{Cc}]/u.test(value)) return refuse('a text of one line')
      return choices === undefined || choices.includes(value) ? value : refuse(`one of ${choices.join(', ')}`)
  }
}

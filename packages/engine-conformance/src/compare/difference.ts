// How a difference is told: what was done, and the places where the two answers part, shortest paths first.

const PLACES_MAX = 12
const VALUE_LENGTH_MAX = 300

export class DifferenceError extends Error {
  constructor(doing: string, expected: unknown, actual: unknown) {
    const places = differences(expected, actual).slice(0, PLACES_MAX)
    const lines = places.map(({ path, model, engine }) => `  ${path}\n    model:  ${model}\n    engine: ${engine}`)
    super(`After ${doing} the answers differ:\n${lines.join('\n')}`)
    this.name = 'DifferenceError'
  }
}

/** Something that must hold whatever the model says. */
export class InvariantError extends Error {
  constructor(invariant: number, message: string) {
    super(`Invariant ${invariant} does not hold: ${message}`)
    this.name = 'InvariantError'
  }
}

interface Place {
  readonly path: string
  readonly model: string
  readonly engine: string
}

function differences(model: unknown, engine: unknown, path = 'answer'): Place[] {
  if (Object.is(model, engine)) return []
  if (isHolder(model) && isHolder(engine) && Array.isArray(model) === Array.isArray(engine)) {
    const keys = [...new Set([...Object.keys(model), ...Object.keys(engine)])]
    return keys.flatMap((key) => differences(model[key], engine[key], `${path}.${key}`))
  }
  return [{ path, model: shown(model), engine: shown(engine) }]
}

function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}

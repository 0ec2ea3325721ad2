// What is wrong with a file that a person wrote: every problem with its file, line, column and field, all at once, so that
// one look is enough to set it right.

import { InvalidError } from '@reprise/core'

export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The field: `policies[2].backoff.max`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

const SHOWN_MAX = 20
/** Of a file with more problems than this, the first are told. */
const PROBLEMS_MAX = 200

/** The file is not what it should be. `problems` lists it one by one; the message tells the first of them. */
export class ConfigurationError extends InvalidError {
  readonly problems: readonly Problem[]

  constructor(found: readonly Problem[]) {
    const problems = found.slice(0, PROBLEMS_MAX)
    const file = problems[0]?.file ?? 'the file'
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    const more = problems.length > SHOWN_MAX ? [`… and ${problems.length - SHOWN_MAX} more`] : []
    super(
      [`${file} has ${count}, so it is not used:`, ...problems.slice(0, SHOWN_MAX).map(problemText), ...more].join(
        '\n  ',
      ),
    )
    this.problems = problems
  }
}

export function problemText({ file, line, column, path, message }: Problem): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`
}

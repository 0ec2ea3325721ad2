// The mistakes of a draft, read off the server's refusal: it tells each with its line and column.

import type { PlacedProblem } from '../../parts/code-editor.tsx'

/** As the server writes them: `policies:3:5: policies[0].retries: This must be …`. */
const PROBLEM = /^ *policies:(\d+):(\d+): (.*)$/gm

export const problemsIn = (message: string): readonly PlacedProblem[] =>
  [...message.matchAll(PROBLEM)].map(([, line, column, said = '']) => ({
    line: Number(line),
    column: Number(column),
    message: said,
  }))

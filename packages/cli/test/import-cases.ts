// Imports of a file by the command line, as cases of commands.test.ts.

import { z } from 'zod'
import type { CommandCase } from './command-cases.ts'

const LINE =
  '{"snapshot":{"id":"old1","action":"mail"},"state":{"status":"dead"},"attempts":[{"failure":{"message":"refused"}}]}'

/** Two dead letters of another system; and lines that are no such thing, nor all of them tasks to submit. */
export const IMPORT_FILES = {
  'old.ndjson': `${LINE}\n${LINE.replace('old1', 'old2')}\n`,
  'wrong.ndjson': `{"action":"greet"}\n{"action":"greet","nme":1}\nnothing\n`,
}

const Tallied = z.object({ accepted: z.int(), duplicate: z.int(), refused: z.int(), dryRun: z.boolean() })

export const IMPORTS: readonly CommandCase[] = [
  { argv: ['import', 'old.ndjson', '--dry-run', '-o', 'json'], json: Tallied.extend({ dryRun: z.literal(true) }) },
  { argv: ['import', 'old.ndjson', '-o', 'json'], json: Tallied.extend({ accepted: z.literal(2) }) },
  { argv: ['import', 'old.ndjson', '-o', 'json'], json: Tallied.extend({ duplicate: z.literal(2) }) },
  { argv: ['import', 'wrong.ndjson'], exit: 5, text: /line 1: snapshot/ },
]

// What `npm run acceptance` runs: the table of B15 on both engines. `--json` makes the last line one object; the exit code is 1 if a row
// is missed.

import { parseArgs } from 'node:util'
import type { EngineName } from '../arguments.ts'
import { acceptanceOf } from './acceptance.ts'
import type { Row } from './row.ts'

const ENGINES: readonly EngineName[] = ['sqlite', 'redis']

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    tasks: { type: 'string', default: '1000' },
    'dead-letters': { type: 'string', default: '20000' },
    engine: { type: 'string', multiple: true, default: [...ENGINES] },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  process.stdout.write(
    'npm run acceptance -- [--engine sqlite|redis] [--tasks 1000] [--dead-letters 20000] [--json]\n\nMeasures what recovery is to achieve (B15), about a minute for each engine.\n',
  )
  process.exit()
}

const bounds = { tasks: Number(values.tasks), deadLetters: Number(values['dead-letters']) }
const engines: { readonly engine: EngineName; readonly rows: readonly Row[] }[] = []
for (const engine of ENGINES.filter((one) => values.engine.includes(one))) {
  process.stderr.write(`Measuring on ${engine}.\n`)
  engines.push({ engine, rows: await acceptanceOf(engine, bounds) })
}
const table = engines.flatMap(({ engine, rows }) =>
  rows.map(({ criterion, wanted, measured, isMet, note }) => {
    return [engine, criterion, wanted, measured, isMet ? 'met' : 'MISSED', note]
  }),
)
const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...table.map((cells) => cells[at]?.length ?? 0)))
for (const cells of table) {
  process.stdout.write(
    `${cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()}\n`,
  )
}
const isMissed = engines.some(({ rows }) => rows.some(({ isMet }) => !isMet))
if (values.json) process.stdout.write(`${JSON.stringify({ isMet: !isMissed, engines })}\n`)
process.exitCode = isMissed ? 1 : 0

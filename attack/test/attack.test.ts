// The fast part of the attacks: small amounts, on the embedded engine. Every case that is not about its size is tried, and none
// may succeed. What takes long or measures is left to `npm run attack`. Much of it is waiting, for servers to start and for
// time-outs: so subjects that wait are tried beside the others, on servers of their own.

import { beforeAll, expect, test } from 'vitest'
import { subjectsOf } from '../src/cases/index.ts'
import { type Row, runCases } from '../src/run.ts'

const SEED = 20_261_116

const BESIDE = [
  ['evidence', 'quotas'],
  ['sign-in', 'local', 'keys', 'command-line', 'webhooks'],
]

const subjects = Object.entries(subjectsOf(SEED)).map(
  ([subject, cases]) => [subject, cases.filter(({ slow }) => slow !== true)] as const,
)
const cases = subjects.flatMap(([, some]) => some)
const isBeside = (subject: string): boolean => BESIDE.some((some) => some.includes(subject))
const groups = [
  subjects.filter(([subject]) => !isBeside(subject)),
  ...BESIDE.map((some) => subjects.filter(([subject]) => some.includes(subject))),
].map((some) => some.flatMap(([, its]) => its))

let rows: readonly Row[] = []

beforeAll(async () => {
  const reports = await Promise.all(
    groups.map((some) => runCases({ engine: 'sqlite', cases: some, tell: () => undefined, isSmall: true })),
  )
  rows = reports.flatMap((report) => report.rows)
}, 600_000)

test.each(cases)('intruder 12, intruder 13, intruder 14, intruder 15: $name is refused', ({ name }) => {
  const row = rows.find((one) => one.name === name)
  expect(`${row?.outcome}: ${row?.seen}`).toMatch(/^refused: /)
})

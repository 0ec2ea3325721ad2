// The fast part of the attacks: small amounts, on the embedded engine. Every case that is not about its size is tried, and none
// may succeed. What takes long or measures is left to `npm run attack`.

import { beforeAll, expect, test } from 'vitest'
import { subjectsOf } from '../src/cases/index.ts'
import { type Row, runCases } from '../src/run.ts'

const SEED = 20_261_116

const cases = Object.values(subjectsOf(SEED))
  .flat()
  .filter(({ slow }) => slow !== true)

let rows: readonly Row[] = []

beforeAll(async () => {
  ;({ rows } = await runCases({ engine: 'sqlite', cases, tell: () => undefined, isSmall: true }))
}, 600_000)

test.each(cases)('$name is refused', ({ name }) => {
  const row = rows.find((one) => one.name === name)
  expect(`${row?.outcome}: ${row?.seen}`).toMatch(/^refused: /)
})

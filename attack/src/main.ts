// `npm run attack`: tries every case against a server of its own, tells its progress on stderr, prints a table and, as the last
// line, one JSON object that sums up. The exit code is 1 if an attack succeeded or could not be tried.

import { helpText, parseArguments, UsageError } from './arguments.ts'
import { subjectsOf } from './cases/index.ts'
import { runCases } from './run.ts'
import { summaryOf, tableOf } from './table.ts'

const USAGE_EXIT_CODE = 2

async function main(words: readonly string[]): Promise<void> {
  const drawn = Math.floor(Math.random() * 2 ** 31)
  const known = Object.fromEntries(
    Object.entries(subjectsOf(drawn)).map(([subject, cases]) => [subject, cases.map(({ name }) => name)]),
  )
  const wanted = parseArguments(words, known, drawn)
  if (wanted.help) {
    process.stdout.write(helpText(known))
    return
  }
  const startedAt = performance.now()
  const tell = (line: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    process.stderr.write(`${seconds.padStart(4)} s  ${line}\n`)
  }
  tell(`seed ${wanted.seed}`)
  const cases = Object.entries(subjectsOf(wanted.seed)).flatMap(([subject, some]) =>
    some.filter(({ name }) => wanted.only.length === 0 || wanted.only.includes(subject) || wanted.only.includes(name)),
  )
  const report = await runCases({ engine: wanted.engine, cases, tell, profile: wanted.profile })
  if (wanted.json) for (const row of report.rows) process.stdout.write(`${JSON.stringify(row)}\n`)
  else process.stdout.write(`${tableOf(report)}\n`)
  const summary = summaryOf(report)
  process.stdout.write(`${JSON.stringify(summary)}\n`)
  process.exitCode = summary.succeeded + summary.failed > 0 ? 1 : 0
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\nnpm run attack -- --help says what there is.\n`)
  process.exitCode = USAGE_EXIT_CODE
}

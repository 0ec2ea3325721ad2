// `npm run bench`: measures, tells its progress on stderr, prints a table and, if asked for, the report as one line of
// JSON. A missed target is a finding, not a failure: the exit code is 0 whenever everything could be measured.

import { HELP, parseArguments, UsageError } from './arguments.ts'
import { installPeer } from './peers.ts'
import { planOf } from './plan.ts'
import { reportOf } from './report.ts'
import { runScenarios } from './scenarios.ts'
import { openStores, StoreMissingError } from './stores.ts'
import { tableOf } from './table.ts'

const USAGE_EXIT_CODE = 2

async function main(words: readonly string[]): Promise<void> {
  const wanted = parseArguments(words)
  if (wanted.help) {
    process.stdout.write(HELP)
    return
  }
  const startedAt = performance.now()
  const tell = (line: string): void => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    process.stderr.write(`${seconds.padStart(4)} s  ${line}\n`)
  }
  const { engine, mode, scenarios } = wanted
  const plan = planOf(wanted)
  const mainMode = mode ?? 'fast'
  await using stores = await openStores(engine, mainMode)
  const problem = wanted.peers ? installPeer(engine, tell) : 'not asked for'
  if (problem !== null) tell(`measuring without the peer: ${problem}`)
  const figures = await runScenarios({ engine, mode, scenarios, plan, stores, tell, withPeer: problem === null })
  const report = reportOf(engine, mainMode, plan.tasks[mainMode], figures)
  process.stdout.write(`${tableOf(report, figures)}\n`)
  if (wanted.json) process.stdout.write(`${JSON.stringify(report)}\n`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\nnpm run bench -- --help says what there is.\n`)
    process.exitCode = USAGE_EXIT_CODE
  } else if (error instanceof StoreMissingError) {
    process.stderr.write(`There is nothing to measure on: ${error.message}\n`)
    process.exitCode = 1
  } else throw error
}

// What `npm run incident` runs: makes the incident on a store of its own, says how to look at it, and with --fixed starts
// workers that can do the work.

import { mkdirSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isRepriseError } from '@reprise/core'
import { runFixed, runIncident } from './incident.ts'

const FILE = '.reprise/incident/reprise.db'
const TASKS_MAX = 100_000

const USAGE = `Usage: npm run incident -- [options]

Makes an incident to practise on. A bad deploy fails thousands of tasks in region eu, for four reasons; one task in a
hundred is poisoned. Then the workers leave, and you have what an operator has at 3 a.m.

  --tasks N         how many tasks, up to ${TASKS_MAX} (4000)
  --engine ADDRESS  on another store, such as redis://localhost:6379 (a file of its own, made anew: ${FILE})
  --fixed           don't make it: start workers of the fixed version on the store of the incident
  --help            show this
`

const tell = (line: string): void => void process.stdout.write(`${line}\n`)

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '4000' },
      engine: { type: 'string' },
      fixed: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const tasks = Number(values.tasks)
  if (!Number.isInteger(tasks) || tasks < 100 || tasks > TASKS_MAX) {
    throw new TypeError(`--tasks takes a whole number from 100 to ${TASKS_MAX}, not '${values.tasks}'.`)
  }
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const engine = values.engine ?? `sqlite:${FILE}`
  if (values.fixed) {
    await runFixed(absolute(engine), tell, interrupted.signal)
    return 0
  }
  if (values.engine === undefined) {
    rmSync(dirname(FILE), { recursive: true, force: true })
    mkdirSync(dirname(FILE), { recursive: true })
  }
  const { succeeded, dead } = await runIncident({
    engine: absolute(engine),
    tasks,
    tell,
    signal: interrupted.signal,
  })
  tell(`${succeeded} succeeded, ${dead} died. It is 3 a.m.:`)
  for (const words of ['status', 'groups', 'list version:2 status:dead', 'workers']) {
    tell(`  npx reprise ${words} --engine ${engine}`)
  }
  tell('  npm run incident -- --fixed     # when you know what to do')
  return interrupted.signal.aborted ? 130 : 0
}

/** The workers are processes of their own. */
const absolute = (engine: string): string =>
  engine.startsWith('sqlite:') ? `sqlite:${resolve(engine.slice('sqlite:'.length))}` : engine

process.exitCode = await run().catch((error: unknown) => {
  if (!isRepriseError(error) && !(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  return 2
})

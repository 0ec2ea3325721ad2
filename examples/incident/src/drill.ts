// The operator's minute: the incident, and then an operator who has the command line and nothing else. They find the cause, deploy
// the fix, and recover everything but the poisoned tasks. Counted are their commands, the seconds, what was run again though it
// should not have been, and attempts that were wasted on poison. `npm run drill` runs it on both engines.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@reprise/client'
import { runFixed, runIncident } from './incident.ts'

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/reprise.mjs', import.meta.url))
/** How a command of the product is run from its sources. */
export const NODE = ['--conditions=reprise-source', '--no-warnings', BIN]
const REASON = 'version 3 has the fix'
const OUTPUT_BYTES_MAX = 64_000_000

export interface DrillResult {
  readonly engine: 'sqlite' | 'redis'
  readonly commandsToCause: number
  readonly commands: number
  /** From the first command to the end of the last. */
  readonly seconds: number
  readonly recovered: number
  readonly wronglyRerun: number
  readonly poisonAttempts: number
}

export interface DrillOptions {
  readonly kind: DrillResult['engine']
  /** The address of an empty store. */
  readonly engine: string
  readonly tasks: number
  /** Where commands run: no configuration of anybody else is there. */
  readonly folder: string
  readonly tell: (line: string) => void
}

interface Group {
  readonly fingerprint: string
  readonly action: string
  readonly count: number
}

interface Cause {
  readonly contrasts: readonly {
    readonly feature: string
    readonly test: { readonly value?: unknown }
    readonly sentence: string
  }[]
}

export async function runDrill({ kind, engine, tasks, folder, tell }: DrillOptions): Promise<DrillResult> {
  const { signal } = new AbortController()
  const left = await runIncident({ engine, tasks, tell: () => undefined, signal })
  tell(`${kind}: ${left.dead} of ${tasks} tasks are dead. The operator's minute begins.`)
  const orchestrator = start(engine, folder)
  const fixed = new AbortController()
  let deployed: Promise<void> | null = null
  try {
    const shell = new Shell(engine, folder, tell)
    const beganAt = performance.now()
    const groups = await shell.run<readonly Group[]>('groups')
    const cause = await shell.run<Cause>('groups', 'cause', largest(groups).fingerprint)
    const region = named(cause, 'region')
    const version = named(cause, 'version')
    const commandsToCause = shell.commands
    tell(`  The cause: version ${version} in region ${region}. Version 3 is deployed.`)
    deployed = runFixed(engine, () => undefined, fixed.signal)

    // What fails elsewhere, too, is not the deploy's fault: it would fail again.
    const elsewhere = await shell.run<readonly Group[]>('groups', `-version:${version}`)
    const poison = elsewhere.map(({ fingerprint }) => fingerprint)
    const query = `version:${version} label.region:${region}${poison.length === 0 ? '' : ` -fingerprint:${poison.join()}`}`
    const limits = ['--fixed-in', '3', '--reason', REASON, '--watch', '--yes']
    const redrive = await shell.run<{ readonly state: string }>('redrive', 'start', '--query', query, ...limits)
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10
    const after = await judged(engine, region)
    tell(`  ${shell.commands} commands, ${seconds} s: the redrive is ${redrive.state}, ${after.recovered} recovered.`)
    return { engine: kind, commandsToCause, commands: shell.commands, seconds, ...after }
  } finally {
    fixed.abort()
    await deployed
    orchestrator.kill('SIGTERM')
    if (orchestrator.exitCode === null) await once(orchestrator, 'exit')
  }
}

const largest = (groups: readonly Group[]): Group => {
  const [first] = groups.toSorted((a, b) => b.count - a.count)
  if (first === undefined) throw new Error('There are no failure groups.')
  return first
}

/** The value that stands out in a feature of this name. */
function named({ contrasts }: Cause, name: string): string {
  const found = contrasts.find(({ feature, test }) => feature.includes(name) && typeof test.value === 'string')
  if (found === undefined) throw new Error(`The cause does not name the ${name}: ${JSON.stringify(contrasts)}`)
  return String(found.test.value)
}

function start(engine: string, folder: string): ChildProcess {
  const words = [...NODE, 'orchestrator', '--engine', engine, '--health-port', '0']
  return spawn(process.execPath, words, { cwd: folder, stdio: 'ignore', env: environment(folder) })
}

export const environment = (folder: string) => ({ PATH: process.env.PATH ?? '', HOME: folder })

/** The operator's shell: it counts what they type. */
class Shell {
  commands = 0
  readonly #engine: string
  readonly #folder: string
  readonly #tell: (line: string) => void

  constructor(engine: string, folder: string, tell: (line: string) => void) {
    this.#engine = engine
    this.#folder = folder
    this.#tell = tell
  }

  async run<Output>(...words: readonly string[]): Promise<Output> {
    this.commands++
    this.#tell(`  $ reprise ${words.join(' ')}`)
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...NODE, ...words, '--engine', this.#engine, '-o', 'json'],
      { cwd: this.#folder, env: environment(this.#folder), maxBuffer: OUTPUT_BYTES_MAX },
    )
    return JSON.parse(stdout) as Output
  }
}

/** What came of it, counted in the store. */
export async function judged(
  engine: string,
  region: string,
): Promise<Pick<DrillResult, 'recovered' | 'wronglyRerun' | 'poisonAttempts'>> {
  const client = await createClient({ engine })
  try {
    const count = async (q: string): Promise<number> => {
      let total = 0
      let cursor: string | null = null
      do {
        const page: { readonly count: number; readonly next: string | null } = await client.countTasks({
          q,
          ...(cursor === null ? {} : { cursor }),
        })
        total += page.count
        cursor = page.next
      } while (cursor !== null)
      return total
    }
    const poisonAttempts = await count('generation>1 "has no customer"')
    return {
      recovered: await count('generation>1 status:succeeded'),
      wronglyRerun: (await count(`generation>1 -label.region:${region}`)) + poisonAttempts,
      poisonAttempts,
    }
  } finally {
    await client.close()
  }
}

// The operator's minute: the incident, and then an operator who has a pager and the command line, and nothing else. The pager rings.
// They find the cause, deploy the fix, and recover everything but the poisoned tasks by a runbook; the pages close, and the
// post-mortem is a file. Counted are their commands, the seconds, what was run again though it should not have been, and attempts
// that were wasted on poison. `npm run drill` runs it on both engines.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@reprise/client'
import { type FakePager, type Page, startFakePager } from '@reprise/test-servers'
import { runFixed, runIncident } from './incident.ts'
import { environment, NODE, serve } from './served.ts'

const RUNBOOK = fileURLToPath(new URL('../runbooks/replay-after-fix.yaml', import.meta.url))
const REASON = 'version 3 has the fix'
/** The fake of PagerDuty is on this machine. */
const CONFIGURATION = 'webhooks: { allow: [127.0.0.0/8] }\n'
const LOOK_EVERY_MS = 100
/** For what hangs. */
const PAGES_MS_MAX = 240_000
const OUTPUT_BYTES_MAX = 64_000_000

export interface DrillResult {
  readonly engine: 'sqlite' | 'redis'
  readonly commandsToCause: number
  readonly commands: number
  /** From the first command until everything has recovered. */
  readonly seconds: number
  /** Each cause rings once, and is told to be over once it has recovered. */
  readonly pages: number
  readonly pagesClosed: number
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

export interface PostMortem {
  /** A file that is written. */
  readonly postMortem: string
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

export async function runDrill(options: DrillOptions & PostMortem): Promise<DrillResult> {
  const { kind, engine, tasks, folder, tell, postMortem } = options
  const pager = await startFakePager()
  writeFileSync(join(folder, 'reprise.yaml'), CONFIGURATION)
  const server = serve(engine, folder)
  const fixed = new AbortController()
  let deployed: Promise<void> | null = null
  try {
    await server.said(/Reprise runs at/)
    const shell = new Shell(folder, tell)
    // Long before the incident.
    const settings = ['--set', `url=${pager.url}`, '--set', 'routingKey=R']
    await shell.prepare('channels', 'create', 'pager', '--kind', 'pagerduty', ...settings)
    await shell.prepare('runbook', 'publish', RUNBOOK)
    const { signal } = new AbortController()
    const left = await runIncident({ engine, tasks, tell: () => undefined, signal })
    const [page] = await heard(pager, 'trigger', 1)
    tell(`${kind}: ${left.dead} of ${tasks} tasks are dead. The pager rings: ${page?.payload?.summary ?? ''}`)
    tell("  The operator's minute begins.")
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
    const inputs = ['--input', `query=${query}`, '--input', 'fixed=3']
    await shell.text('recovery-runbook', 'replay-after-fix', ...inputs, '--reason', REASON, '--yes')
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10

    const recoveredCauses = groups.filter(({ fingerprint }) => !poison.includes(fingerprint))
    const closed = await heard(pager, 'resolve', recoveredCauses.length)
    writeFileSync(postMortem, await shell.text('incident', 'export', '--since', '1h'))
    tell(`  The post-mortem is in ${postMortem}.`)
    const after = await judged(engine, region)
    tell(`  ${shell.commands} commands, ${seconds} s: ${after.recovered} recovered, ${closed.length} pages are closed.`)
    const pages = (await heard(pager, 'trigger', groups.length)).length
    return {
      engine: kind,
      commandsToCause,
      commands: shell.commands,
      seconds,
      pages,
      pagesClosed: closed.length,
      ...after,
    }
  } finally {
    fixed.abort()
    await deployed
    await server.stop()
    await pager.close()
  }
}

/** All pages of this kind, once there are that many. */
async function heard({ pages }: FakePager, action: Page['event_action'], count: number): Promise<readonly Page[]> {
  const giveUpAt = performance.now() + PAGES_MS_MAX
  for (;;) {
    const found = pages.filter(({ event_action }) => event_action === action)
    if (found.length >= count) return found
    if (performance.now() > giveUpAt)
      throw new Error(`The pager heard ${found.length} times '${action}', not ${count} times.`)
    await sleep(LOOK_EVERY_MS)
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

/** The operator's shell: it counts what they type. */
class Shell {
  commands = 0
  readonly #folder: string
  readonly #tell: (line: string) => void

  constructor(folder: string, tell: (line: string) => void) {
    this.#folder = folder
    this.#tell = tell
  }

  async run<Output>(...words: readonly string[]): Promise<Output> {
    return JSON.parse(await this.#typed([...words, '-o', 'json'])) as Output
  }

  /** As a person reads it. */
  text(...words: readonly string[]): Promise<string> {
    return this.#typed(words)
  }

  /** What was typed on another day does not count. */
  async prepare(...words: readonly string[]): Promise<void> {
    await this.#ran(words)
  }

  #typed(words: readonly string[]): Promise<string> {
    this.commands++
    this.#tell(`  $ reprise ${words.map((word) => (/\s/.test(word) ? `'${word}'` : word)).join(' ')}`)
    return this.#ran(words)
  }

  async #ran(words: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [...NODE, ...words], {
      cwd: this.#folder,
      env: environment(this.#folder),
      maxBuffer: OUTPUT_BYTES_MAX,
    })
    return stdout
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

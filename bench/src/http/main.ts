// `npm run bench:http`: how many requests a second our server answers, as a share of what a bare Fastify route with the same kind of
// answer does in the same run. In turns, so that a machine that slows down slows both. A missed target is a finding, not a failure.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../arguments.ts'
import { HELP, type HttpArguments, parseArguments } from './arguments.ts'
import type { LoadResult } from './load.ts'
import type { LoadOrder } from './load-process.ts'
import type { Figures, Ready, ServerOrder } from './server-process.ts'

const TARGETS = { submit: 0.4, list: 0.2, differing: null } as const
const BODY = '{"action":"measured","payload":{"text":"task number #","at":#},"labels":{"region":"eu"}}'
const QUESTIONS = {
  submit: { method: 'POST', path: '/api/v1/tasks', body: BODY },
  list: { method: 'GET', path: '/api/v1/tasks?limit=50', body: null },
  /** Each asks for something else, so that no two can share a read. All find the same. */
  differing: { method: 'GET', path: '/api/v1/tasks?limit=50&q=-action:other#', body: null },
} as const
type Question = keyof typeof QUESTIONS

interface Running extends Ready {
  readonly process: ChildProcess
}

const tell = (line: string): void => void process.stderr.write(`${line}\n`)
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0

async function startServer(order: ServerOrder): Promise<Running> {
  const child = fork(new URL('./server-process.ts', import.meta.url), {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  child.send(order)
  const [ready] = (await once(child, 'message')) as [Ready]
  return { ...ready, process: child }
}

async function figuresOf({ process: child }: Running): Promise<Figures> {
  child.send('figures')
  const [figures] = (await once(child, 'message')) as [Figures]
  return figures
}

async function loadOn(
  { port, token }: Running,
  question: Question,
  { connections, seconds }: HttpArguments,
): Promise<LoadResult> {
  const child = fork(new URL('./load-process.ts', import.meta.url))
  const order: LoadOrder = {
    port,
    token,
    ...QUESTIONS[question],
    connections,
    seconds,
  }
  child.send(order)
  const [result] = (await once(child, 'message')) as [LoadResult]
  return result
}

async function measure(wanted: HttpArguments): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-http-'))
  try {
    tell(`storing ${wanted.tasks} tasks`)
    const file = join(folder, 'reprise.db')
    const ours = await startServer({ kind: 'reprise', file, tasks: wanted.tasks })
    const bare = await startServer({ kind: 'bare', file, tasks: 0 })
    const report: Record<string, unknown> = {}
    for (const question of Object.keys(QUESTIONS) as Question[]) {
      const rounds: { readonly bare: LoadResult; readonly ours: LoadResult }[] = []
      await loadOn(ours, question, wanted)
      const before = await figuresOf(ours)
      for (let round = 1; round <= wanted.rounds; round++) {
        tell(`${question}, round ${round}`)
        rounds.push({ bare: await loadOn(bare, question, wanted), ours: await loadOn(ours, question, wanted) })
      }
      const after = await figuresOf(ours)
      const ratio = median(rounds.map((one) => one.ours.perSecond / one.bare.perSecond))
      report[question] = {
        perSecond: Math.round(median(rounds.map((one) => one.ours.perSecond))),
        bare: Math.round(median(rounds.map((one) => one.bare.perSecond))),
        ratio: Number(ratio.toFixed(2)),
        target: TARGETS[question],
        p99Ratio: Number(median(rounds.map((one) => one.ours.p99Ms / one.bare.p99Ms)).toFixed(2)),
        p99Ms: Number(median(rounds.map((one) => one.ours.p99Ms)).toFixed(1)),
        errors: rounds.reduce((sum, one) => sum + one.ours.errors, 0),
        memoryMegabytes: [before, after].map(({ bytes }) => Math.round(bytes / 1_048_576)),
        loopHeldMs: Number(after.heldMs.toFixed(1)),
      }
    }
    for (const child of [ours, bare]) child.process.kill()
    if (wanted.json) process.stdout.write(`${JSON.stringify(report)}\n`)
    else console.table(report)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const USAGE_EXIT_CODE = 2

try {
  const wanted = parseArguments(process.argv.slice(2))
  if (wanted.help) process.stdout.write(HELP)
  else await measure(wanted)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\nnpm run bench:http -- --help says what there is.\n`)
  process.exitCode = USAGE_EXIT_CODE
}

// The hands of a runner of runbooks: operations of the table, performed in the name of who started the run and with the rights of an
// operator, requests that go where webhooks may go, and scripts of one folder, if the configuration names one.

import { spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { type Clock, InvalidError, type Timer } from '@reprise/core'
import { AddressPolicy, HttpCaller, type Resolve } from '@reprise/launchers'
import type { HttpStep, RunbookHands, RunbookRun, ScriptStep } from '@reprise/orchestrator'
import type { Caller } from '../access/caller.ts'
import type { Context } from '../context.ts'
import type { Operation } from '../operation.ts'
import { parsedInput, perform } from '../run.ts'
import { ALL_OPERATIONS } from '../table.ts'
import { refuseOperation } from './runbook-file.ts'

export interface HandsOptions {
  readonly context: Context
  /** Addresses that may be called though they are not public. */
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
  /** Scripts of this folder may be run; none if missing. */
  readonly scripts?: string | undefined
}

const ANSWER_BYTES_KEPT = 8_192
const OUTPUT_BYTES_MAX = 65_536
/** How long a script may take to end after it was told to. */
const KILL_MS = 2_000

export function createRunbookHands({ context, allow = [], resolve, scripts }: HandsOptions): RunbookHands {
  const operations: Readonly<Record<string, Operation>> = ALL_OPERATIONS
  const caller = new HttpCaller(new AddressPolicy(allow, resolve), context.clock, undefined)
  const entryOf = (name: string): Operation => {
    refuseOperation(name, operations, (message) => {
      throw new InvalidError(message)
    })
    const entry = operations[name]
    if (entry === undefined) throw new InvalidError(`There is no operation '${name}'.`)
    return entry
  }
  return {
    operation: (run, name, input, signal) => perform(context, callerOf(run), [name, entryOf(name)], input, signal),
    onlyLooks: (name) => entryOf(name).route.startsWith('GET '),
    takesReason: (name) => 'reason' in entryOf(name).input.shape,
    check(name, input) {
      try {
        parsedInput(entryOf(name).input, input)
        return null
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    http: (request, signal) => called(caller, request, signal),
    script: (script, signal) => ran(context.clock, scripts, script, signal),
  }
}

/** Steps never configure anything, whatever who started the run may do. */
const callerOf = ({ actor, id }: RunbookRun): Caller => ({
  kind: 'token',
  id: `run:${id}`,
  actor,
  name: actor,
  scopes: new Set(['read', 'operate']),
  tenants: null,
})

async function called(
  caller: HttpCaller,
  { method, url, headers, body, timeoutMs, idempotencyKey }: HttpStep,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const text = body === null || body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await caller.call({
    method,
    url: new URL(url),
    deadlineMs: timeoutMs,
    answerBytesKept: ANSWER_BYTES_KEPT,
    signal,
    content: () => ({
      body: text,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'reprise-runbooks',
        'idempotency-key': idempotencyKey,
        ...headers,
      },
    }),
  })
  return { status: answer.status, body: answer.body }
}

/** No shell, nothing of our environment but the path, and an end after its time. */
async function ran(
  clock: Clock,
  folder: string | undefined,
  { file, args, timeoutMs, environment }: ScriptStep,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  if (folder === undefined) {
    throw new InvalidError("Scripts are switched off: name their folder as 'runbooks.scripts' in the configuration.")
  }
  const home = await realpath(folder)
  const path = await realpath(join(home, file))
  if (!path.startsWith(`${home}${sep}`)) throw new InvalidError(`${file} is not in the folder of scripts.`)
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<{ exitCode: number | null; output: string }>()
  const child = spawn(path, args, {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it starts ends with it.
    detached: true,
  })
  const chunks: Buffer[] = []
  let size = 0
  const keep = (chunk: Buffer): void => {
    if (size < OUTPUT_BYTES_MAX) chunks.push(chunk.subarray(0, OUTPUT_BYTES_MAX - size))
    size += chunk.length
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const end = (kill: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, kill)
    } catch {
      // It has ended.
    }
  }
  let isLate = false
  // All are cancelled at the end: later on, its number may be that of another process.
  const timers: Timer[] = []
  const stop = (): void => {
    end('SIGTERM')
    timers.push(clock.after(KILL_MS, () => end('SIGKILL')))
  }
  timers.push(
    clock.after(timeoutMs, () => {
      isLate = true
      stop()
    }),
  )
  signal.addEventListener('abort', stop, { once: true })
  child.on('error', reject)
  child.on('exit', () => {
    end('SIGKILL')
    // What left the group may keep the output open for ever: it is not waited for.
    const letGo = (): void => void [child.stdout, child.stderr].map((stream) => stream.destroy())
    timers.push(clock.after(KILL_MS, letGo))
  })
  child.on('close', (exitCode) => resolve({ exitCode, output: Buffer.concat(chunks).toString().toWellFormed() }))
  try {
    const result = await promise
    if (isLate) throw new InvalidError(`${file} took longer than ${timeoutMs} ms, and was ended.`)
    return result
  } finally {
    for (const timer of timers) timer.cancel()
    signal.removeEventListener('abort', stop)
  }
}

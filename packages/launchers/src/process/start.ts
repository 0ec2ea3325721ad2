// Starts the supervisor of a run and waits until it says what it did. Whatever happens meanwhile (an abort, a void order, a
// supervisor that dies), it ends in one of two ways: something may run, or nothing will.

import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '@reprise/core'
import { monotonicMs } from '../monotonic.ts'
import { failpoint } from './failpoint.ts'
import { type Command, FILE, type OutcomeFile, type Report, type Unstarted, VOID } from './protocol.ts'
import type { Run, Runs } from './runs.ts'

/** Beside this module, as source in the workspace and compiled where it is published. A bundle of CommonJS does not know. */
const supervisorFile = (): string =>
  join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? 'supervisor.ts' : 'supervisor.js')
const LOG_LENGTH_MAX = 1_000

export type Start =
  /** The supervisor's process id. Its command runs, or has run, or may have. */
  { readonly may: 'run'; readonly pid: number } | { readonly may: 'not run'; readonly unstarted: Unstarted }

export async function startSupervisor(
  runs: Runs,
  run: Run,
  command: Command,
  clock: Clock,
  signal: AbortSignal,
): Promise<Start> {
  const log = await open(join(run.path, FILE.log), 'a', 0o600)
  let supervisor: ChildProcess
  try {
    const failpointName = process.env.REPRISE_FAILPOINT
    supervisor = spawn(process.execPath, ['--no-warnings', supervisorFile()], {
      cwd: run.path,
      env: failpointName === undefined ? {} : { REPRISE_FAILPOINT: failpointName },
      stdio: ['pipe', 'pipe', log.fd],
      detached: true,
    })
  } finally {
    await log.close()
  }
  failpoint('launcher:started')
  const answer = firstAnswer(supervisor, command, clock, signal)
  // It dies only with the pipe, and then the answer says so.
  supervisor.stdin?.on('error', () => undefined)
  supervisor.stdin?.end(JSON.stringify(command))
  try {
    return await judged(runs, run, supervisor, await answer)
  } finally {
    supervisor.stdout?.destroy()
    supervisor.unref()
  }
}

type Answer = Report | { readonly silent: Unstarted }

/** The supervisor's report, or why none came. */
function firstAnswer(supervisor: ChildProcess, command: Command, clock: Clock, signal: AbortSignal): Promise<Answer> {
  return new Promise<Answer>((resolve) => {
    const isVoid = clock.after(command.voidAt - monotonicMs(), () => resolve({ silent: VOID }), { hold: true })
    const aborted = (): void =>
      resolve({ silent: { code: 'ABORT_ERR', message: 'The launch was given up before anything was started.' } })
    const settle = (answer: Answer): void => {
      isVoid.cancel()
      signal.removeEventListener('abort', aborted)
      resolve(answer)
    }
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) aborted()
    supervisor.once('error', (error: NodeJS.ErrnoException) => {
      settle({ silent: { code: error.code ?? 'LAUNCH_FAILED', message: `No supervisor could be started: ${error}.` } })
    })
    if (supervisor.stdout === null) return
    const lines = createInterface({ input: supervisor.stdout })
    lines.once('line', (line) => settle(JSON.parse(line) as Report))
    // After its last line, also if it dies.
    lines.once('close', () => settle({ silent: { code: 'LAUNCH_FAILED', message: 'The supervisor died.' } }))
  })
}

async function judged(runs: Runs, run: Run, supervisor: ChildProcess, answer: Answer): Promise<Start> {
  if ('unstarted' in answer) return { may: 'not run', unstarted: answer.unstarted }
  const { pid } = supervisor
  if ('started' in answer && pid !== undefined) return { may: 'run', pid }
  const unstarted = 'silent' in answer ? answer.silent : VOID
  if (pid === undefined || (await runs.bar(run))) {
    // It would find the gate barred and end by itself, unless it stands still.
    supervisor.kill('SIGKILL')
    const log = await readFile(join(run.path, FILE.log), 'utf8').catch(() => '')
    const said = log === '' ? '' : ` It said: ${log.slice(-LOG_LENGTH_MAX).trim()}`
    return { may: 'not run', unstarted: { ...unstarted, message: unstarted.message + said } }
  }
  // The supervisor has passed the gate. It may have written that it started nothing; otherwise it may have.
  const outcome = await runs.read<OutcomeFile>(run, FILE.outcome)
  if (outcome !== null && outcome !== 'unreadable' && outcome.kind === 'unstarted') {
    return { may: 'not run', unstarted: outcome }
  }
  return { may: 'run', pid }
}

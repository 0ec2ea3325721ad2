// What becomes of a task that was just submitted: whether anybody takes it at all, and how it ended, for a caller that waits.
// Standard output gets a result and nothing else: that it failed, or took too long, is told beside it.

import type { SubmittedTask } from '@reprise/client'
import { isRepriseError, nearMiss, type RepriseError } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'
import { unlessRefused } from '../command/rows.ts'
import { CommandError, exitCodeOf } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plainLines } from '../output/plain-text.ts'
import type { Task } from '../views/task-rows.ts'

/** Waits for the end, at most this long, and shows it. */
export async function waitForEnd(
  invocation: Invocation,
  task: SubmittedTask,
  timeout: number | null,
): Promise<ExitCode> {
  const { output } = invocation
  output.note(`Submitted ${task.id}${task.accepted ? '' : ', which was there already'}. Waiting for its end.`)
  const problem = await endOf(task, timeout, invocation.host.asked)
  const found = await task.get()
  if (found !== null && (problem === null || !output.isForPeople)) {
    output.one(found, ({ line }) => {
      if (found.state.status === 'succeeded') line(plainLines(JSON.stringify(found.state.result)))
    })
  }
  if (problem === null) return EXIT.ok
  throw await told(problem, invocation, { id: task.id, again: found === null ? null : againBy(found) })
}

/** The command that runs it again; null if none does. */
const againBy = ({ state, retryable }: Pick<Task, 'state' | 'retryable'>): 'retry' | 'redrive' | null =>
  retryable ? 'retry' : state.status === 'dead' ? 'redrive' : null

/** Null if it succeeded. */
async function endOf(task: SubmittedTask, timeout: number | null, signal: AbortSignal): Promise<RepriseError | null> {
  try {
    await task.result({ signal, ...(timeout === null ? {} : { timeout }) })
    return null
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_TASK_FAILED') || isRepriseError(error, 'REPRISE_TIMED_OUT')) return error
    throw error
  }
}

/** The same error with what to type next, and after a time-out with the reason why it has not ended. */
async function told(
  problem: RepriseError,
  invocation: Invocation,
  { id, again }: { readonly id: string; readonly again: ReturnType<typeof againBy> },
): Promise<CommandError> {
  const isLate = problem.code === 'REPRISE_TIMED_OUT'
  const why = isLate ? ((await explanationOf(invocation, id))?.summary ?? null) : null
  return new CommandError(
    [`${problem.message}${why === null ? '' : ` ${why}`}`, `  code: ${problem.code}`].join('\n'),
    {
      exitCode: exitCodeOf(problem),
      cause: problem,
      hint: isLate
        ? `'reprise explain ${id}' says why it has not ended, 'reprise cancel ${id}' ends it.`
        : `'reprise explain ${id}' says more${again === null ? '' : `, 'reprise ${again} ${id}' tries again`}.`,
    },
  )
}

/** A name with a mistake in it is accepted like any other: it may be that its worker starts later. */
export async function noteIfNobodyTakes(invocation: Invocation, id: string): Promise<void> {
  if (invocation.options.flag('quiet')) return
  const explanation = await explanationOf(invocation, id)
  if (explanation?.gates.some(({ kind }) => kind === 'no_worker') !== true) return
  const { action, pool } = explanation.task
  const known = await knownActions(invocation)
  const near = known.includes(action) ? '' : nearMiss(action, known)
  invocation.output.note(
    `No worker takes the action '${action}' in the pool '${pool}' now: the task waits until one does.${near}`,
  )
}

/** What workers take now; empty for those who may not see workers. */
async function knownActions({ api }: Invocation): Promise<readonly string[]> {
  const workers = await unlessRefused(api.listWorkers({ limit: 100 }))
  return [...new Set((workers?.items ?? []).flatMap(({ actions }) => actions ?? []))]
}

/** Null also if it can't be had: the task is submitted, and some may do no more than that. */
async function explanationOf({ api }: Invocation, id: string) {
  try {
    return await api.explainTask({ id })
  } catch {
    return null
  }
}

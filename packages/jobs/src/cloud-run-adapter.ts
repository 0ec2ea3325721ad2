// Runs each attempt of a chunk as one execution of a Google Cloud Run job, with the chunk in its environment, and looks until it has
// ended. A stop cancels the execution. The output of a container stays in its log: only the exit code comes back.

import { type Clock, check, type Duration, durationMs, sleep, systemClock } from '@reprise/core'
import { type CloudRunClient, type CloudRunExecution, openCloudRun } from '@reprise/launchers/clients'
import type { ChunkAdapter, ChunkOutcome } from './adapter.ts'

export interface CloudRunAdapterOptions {
  /** `projects/<project>/locations/<region>/jobs/<job>`. */
  readonly job: string
  /** The container that gets the chunk, if the job has several. */
  readonly container?: string
  /** Between two looks at an execution; 2 s if not given. */
  readonly poll?: Duration
  /** For another address than that of Google. */
  readonly endpoint?: string
  /** By Google's usual chain if not given. */
  readonly accessToken?: () => Promise<string>
  readonly clock?: Clock
}

const CHECKS: check.Table<CloudRunAdapterOptions> = {
  job: check.text,
  container: check.text,
  poll: check.anything,
  endpoint: check.text,
  accessToken: check.func,
  clock: check.having('now', 'monotonic', 'after'),
}

const POLL_MS = 2_000

/** The container finds its chunk in REPRISE_CHUNK_ID, REPRISE_CHUNK_ATTEMPT and, as JSON, in REPRISE_CHUNK_INPUT. */
export function createCloudRunAdapter<Input = unknown>(options: CloudRunAdapterOptions): ChunkAdapter<Input> {
  check.options(options, CHECKS, 'Cloud Run adapter option', ['job'])
  const { job, container, endpoint, accessToken, clock = systemClock } = options
  const pollMs = options.poll === undefined ? POLL_MS : durationMs(options.poll, 'poll')
  const cloudRun = openCloudRun({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessToken === undefined ? {} : { accessToken }),
  })
  const named = container === undefined ? {} : { name: container }
  return {
    name: 'cloud-run',
    async execute({ chunk, attempt, signal }) {
      const env = [
        { name: 'REPRISE_CHUNK_ID', value: chunk.id },
        { name: 'REPRISE_CHUNK_ATTEMPT', value: String(attempt) },
        { name: 'REPRISE_CHUNK_INPUT', value: JSON.stringify(chunk.input ?? null) },
      ]
      // Not given up in the middle: an execution whose name nobody knows could not be cancelled.
      const name = await cloudRun.run(job, { containerOverrides: [{ ...named, env }], taskCount: 1 })
      for (;;) {
        if (signal.aborted) return cancelled(cloudRun, name)
        const execution = await cloudRun.execution(name)
        if (execution === null) throw new Error(`Cloud Run does not know the execution ${name} any more.`)
        if (execution.completionTime !== undefined) return outcomeOf(cloudRun, execution)
        await sleep(clock, pollMs, signal, { hold: true })
      }
    },
  }
}

async function cancelled(cloudRun: CloudRunClient, name: string): Promise<ChunkOutcome> {
  // It may have ended by itself just now.
  await cloudRun.cancel(name).catch(() => undefined)
  return { exitCode: 143, stdout: '', stderr: 'The execution was cancelled.' }
}

async function outcomeOf(cloudRun: CloudRunClient, execution: CloudRunExecution): Promise<ChunkOutcome> {
  const { name, succeededCount = 0, failedCount = 0, cancelledCount = 0, conditions = [] } = execution
  if (succeededCount > 0 && failedCount + cancelledCount === 0) return { exitCode: 0, stdout: '', stderr: '' }
  const [task] = await cloudRun.tasks(name)
  const { message, reason, executionReason } = conditions.find(({ type }) => type === 'Completed') ?? {}
  const said = [executionReason ?? reason, message].filter((part) => part !== undefined && part !== '')
  return { exitCode: task?.lastAttemptResult?.exitCode || 1, stdout: '', stderr: said.join(': ') }
}

// The client's backend straight on an engine: submissions and waits go to the engine itself, operations to the very functions
// that a server runs, as a local caller who may do everything.

import type { Connection } from '@reprise/connect'
import {
  type Clock,
  CompletionWishes,
  DEFAULT_TENANT,
  decodeJson,
  KnownActions,
  type SettingDefaults,
  settingsFiller,
  type TaskSpec,
  withNotify,
} from '@reprise/core'
import type { Backend, End, OperationCall, Submission } from '../backend.ts'
import { watchJournal } from './journal-watch.ts'
import { ResultWatcher } from './result-watcher.ts'

export interface LocalOptions {
  readonly clock: Clock
  /** Who operates, for the journal. */
  readonly actor: string
  /** MAX_RETRIES of the environment. */
  readonly maxRetries: number
  /** What holds where an action says nothing. */
  readonly defaults: SettingDefaults
}

export function engineBackend(connection: Connection, options: LocalOptions): Backend {
  const { engine } = connection
  const actions = new KnownActions(engine, options.clock, [], options.defaults)
  const fill = settingsFiller(options.defaults)
  const wishes = new CompletionWishes(engine, options.clock)
  const watcher = new ResultWatcher(engine, options.clock)
  const closing = new AbortController()
  let local: ReturnType<typeof import('@reprise/operations').openLocal> | null = null

  /** Loaded by the first call of one: a process that only submits needs none of it. */
  const perform = async (...[name, input, signal]: OperationCall): Promise<unknown> => {
    const { openLocal } = await import('@reprise/operations')
    local ??= openLocal({ engine, ...options })
    return (await local)(name, input, signal ?? closing.signal)
  }
  return {
    async submit(submissions) {
      const look = wishes.look()
      if (look !== null) await look
      const isReady = fill === null && submissions.every(isComplete)
      const specs = isReady ? submissions : await specsOf(submissions, actions, fill)
      return engine.submit(wishes.isEmpty ? specs : specs.map((spec) => wished(spec, wishes)))
    },

    async ended(id, limits) {
      const { state } = await watcher.ended(id, limits)
      if (state.status === 'succeeded') {
        return { status: 'succeeded', result: state.result === null ? null : decodeJson(state.result) }
      }
      // The watcher waits for an end.
      return state as End
    },

    watch(request) {
      const signals = request.signal === null ? [closing.signal] : [closing.signal, request.signal]
      return watchJournal(engine, options.clock, { ...request, signal: AbortSignal.any(signals) })
    },

    call: perform,

    async *lines(...call) {
      yield* (await perform(...call)) as AsyncIterable<unknown>
    },

    /** Turns away everybody who waits, and closes the engine if it was opened here. */
    async close() {
      closing.abort()
      watcher.close()
      await connection.close()
    },
  }
}

/** With everything that a submission leaves to its action filled in. */
async function specsOf(
  submissions: readonly Submission[],
  actions: KnownActions,
  fill: ReturnType<typeof settingsFiller>,
): Promise<readonly TaskSpec[]> {
  const specs: TaskSpec[] = []
  for (const { notify = false, ...submission } of submissions) {
    const { action, leftOpen, pool, settings } = submission
    const isKnown = pool !== null && settings !== null
    const known = isKnown ? { pool, settings } : (actions.known(action) ?? (await actions.find(action)))
    const complete = settings === null ? known.settings : (fill?.(settings, leftOpen ?? []) ?? settings)
    specs.push({
      ...submission,
      pool: pool ?? known.pool,
      settings: notify ? withNotify(complete) : complete,
      tenant: submission.tenant ?? DEFAULT_TENANT,
    })
  }
  return specs
}

/** With what webhooks ask for. */
function wished(spec: TaskSpec, wishes: CompletionWishes): TaskSpec {
  const settings = wishes.settingsFor(spec.settings, spec.action, spec.tenant)
  return settings === spec.settings ? spec : { ...spec, settings }
}

const isComplete = (submission: Submission): submission is Submission & TaskSpec =>
  submission.pool !== null &&
  submission.settings !== null &&
  submission.tenant !== null &&
  submission.notify === undefined

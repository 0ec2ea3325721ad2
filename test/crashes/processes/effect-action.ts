// The action of the crash tests: short work that leaves a trace.

import { setTimeout as delay } from 'node:timers/promises'
import { type Action, defineAction } from '@reprise/core'

/** What a worker process prints when a run has ended. */
export const RUN_ENDED = '.\n'

export function recordEffect(record: (line: string) => void): Action<{ readonly ms: number }> {
  return defineAction({
    name: 'effect.record',
    // Chance may kill the same task's worker more than once; this test is about tasks that are not to blame.
    maxLosses: 20,
    async run(input: { readonly ms: number }, { taskId, attempt }) {
      await delay(input.ms)
      record(`${taskId} ${attempt}`)
      return { attempt }
    },
  })
}

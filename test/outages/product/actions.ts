// The actions of the outage tests: one that ends at once, and one that is held until somebody lets go of it.

import { type Action, defineAction } from '@reprise/core'

export const quick: Action<number, number, { attempt: number; input: number }> = defineAction({
  name: 'quick',
  run: (input: number, { attempt }) => ({ attempt, input }),
})

/** `begun` is called when a handler begins; it ends when the promise it answers with does. */
export function heldAction(begun: (taskId: string) => Promise<void>): Action<null, null, { held: true }> {
  return defineAction({
    name: 'held',
    async run(_: null, { taskId }) {
      await begun(taskId)
      return { held: true as const }
    },
  })
}

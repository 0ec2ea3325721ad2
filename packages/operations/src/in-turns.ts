// What takes a while to show: a list of many items, or a task with a long payload. Between two steps others have their turn, so
// that nobody is held up.

import { type Clock, turnsOf } from '@reprise/core'
import type { Context } from './context.ts'
import { Written } from './operation.ts'
import type { Taker } from './places.ts'

/** Resolves when a step that may be long can begin. */
export async function aTurn(clock: Clock): Promise<void> {
  const turns = turnsOf(clock)
  if (turns.isSpent) await turns.wait()
}

/** Makes a view of something long when it is the caller's turn, and writes it. */
export const inItsTurn = <T>(
  { largeValues, clock }: Pick<Context, 'largeValues' | 'clock'>,
  caller: Taker,
  make: () => Promise<T>,
): Promise<Written<T>> =>
  largeValues.run(caller, async () => {
    await aTurn(clock)
    const view = await make()
    await aTurn(clock)
    return new Written<T>(JSON.stringify(view))
  })

export async function inTurns<T, Shown>(
  clock: Clock,
  items: readonly T[],
  show: (item: T) => Shown | Promise<Shown>,
): Promise<Shown[]> {
  const turns = turnsOf(clock)
  const shown: Shown[] = []
  for (const item of items) {
    if (turns.isSpent) await turns.wait()
    shown.push(await show(item))
  }
  return shown
}

// Lists whose items take a while to show: between two of them others have their turn, so that a long list holds up nobody.

import { type Clock, turnsOf } from '@reprise/core'

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

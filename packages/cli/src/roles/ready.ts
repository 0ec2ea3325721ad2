// Whether a store answers, for /readyz: one cheap question, with a limit on how long it may take.

import { type Clock, type Engine, sleep } from '@reprise/core'

const PATIENCE_MS = 2_000

export async function storeAnswers(engine: Engine, clock: Clock): Promise<boolean> {
  const answered = new AbortController()
  const question = engine.workers({ limit: 1 }).then(
    () => true,
    () => false,
  )
  const tooLate = sleep(clock, PATIENCE_MS, answered.signal).then(() => false)
  const result = await Promise.race([question, tooLate])
  answered.abort()
  return result
}

// Does the length of the queue matter? A backlog is handed in by one process; another one, which never saw it before,
// works off a part of it while the rest stands, and says how fast it was and how much memory it took.

import type { Mode } from './arguments.ts'
import type { OutcomeOf } from './measurement.ts'
import { inputBatches } from './payload.ts'
import { perSecond } from './queue-under-test.ts'
import { openReprise } from './reprise.ts'

export async function measureFill(path: string, mode: Mode, tasks: number): Promise<OutcomeOf<'fill'>> {
  const queue = await openReprise(path, mode)
  const submitPerS = await perSecond(tasks, async () => {
    for (const batch of inputBatches(0, tasks)) await queue.submit(batch)
  })
  await queue.close()
  return { submitPerS }
}

export async function measureBacklog(path: string, mode: Mode, tasks: number): Promise<OutcomeOf<'backlog'>> {
  const queue = await openReprise(path, mode)
  const processPerS = await perSecond(tasks, () => queue.process(tasks))
  await queue.close()
  return { processPerS, peakMb: process.resourceUsage().maxRSS / 1_024 }
}

// Why a task is not running: the facts are looked up at nearly the same moment and put together by the domain.

import { type ExplainLook, type Explanation, PAGE_LIMIT_MAX, type TaskId } from '@reprise/core'
import { explain as explainFacts } from '@reprise/core/engine'
import { gatesFacts } from './gates-facts.ts'
import type { Partition } from './partition.ts'
import { allWorkers } from './registry.ts'
import { seeTask } from './tasks.ts'

export async function explain(partition: Partition, id: TaskId, look: ExplainLook): Promise<Explanation | null> {
  // Asked for together: they travel in one go, and the lane is known from the task.
  const [seen, workers] = await Promise.all([seeTask(partition, id), allWorkers(partition, PAGE_LIMIT_MAX)])
  if (seen === null) return null
  const { task, now } = seen
  const { thresholds } = partition
  return explainFacts({ task, now, ...(await gatesFacts(partition, task)), workers, thresholds, ...look })
}

// The logs of a task's last attempts, as renewals brought them (lua/renew.lua).

import type { TaskId, TaskLog } from '@reprise/core'
import { parseAttemptLog } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'

/** Oldest attempt first. */
export async function logsOf(partition: Partition, id: TaskId): Promise<readonly TaskLog[]> {
  const fields = asTexts(await partition.command('HGETALL', partition.key(`log:${id}`)))
  const logs: TaskLog[] = []
  for (let at = 0; at < fields.length; at += 2) {
    logs.push({ attempt: Number(fields[at]), ...parseAttemptLog(fields[at + 1] ?? '') })
  }
  return logs.sort((a, b) => a.attempt - b.attempt)
}

// Reserving an attempt in a store with several partitions: the task's partition does it. The dedupe key of a task that is
// not known yet is taken first, and given up again if the reservation is refused; slots of a full share are fetched from
// other partitions.

import {
  type Claimed,
  DuplicateExecutionError,
  type ReserveRequest,
  StoreBusyError,
  TaskConflictError,
  type TaskId,
} from '@reprise/core'
import { checkReserve } from '@reprise/core/engine'
import { isOfBreaker, type ReserveRefusal, refusal, reserveThere } from '../reserve.ts'
import { type Hold, isKeyed, type Keys, NO_TICKET } from './keys.ts'
import { outwardToken, type Partitions } from './partitions.ts'
import type { Slots } from './slots.ts'

const ROUNDS_MAX = 50

export async function reserve(store: Partitions, request: ReserveRequest, keys: Keys, slots: Slots): Promise<Claimed> {
  checkReserve(request)
  const place = store.placeOf(request.task.id)
  const ask = async (key: string | null): Promise<Claimed | ReserveRefusal> => {
    let answer = await reserveThere(store.at(place), request, key)
    const full = 'lease' in answer || answer.what !== 'full' ? '' : (answer.details[0] ?? '')
    // What a breaker lets through is never shared: the others have no part of it.
    if (full !== '' && !isOfBreaker(full) && (await slots.moveTo(place, full))) {
      answer = await reserveThere(store.at(place), request, key)
    }
    if (!('lease' in answer)) return answer
    return { ...answer.lease, token: outwardToken(place, answer.lease.token) }
  }
  const { task } = request
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let key: string | null = null
    let hold: Hold | null = null
    let holder: TaskId | null = null
    if (isKeyed(task)) {
      key = NO_TICKET
      if (!(await isKnown(store, task.id))) {
        const [result] = await keys.hold([task])
        if (result !== undefined && 'hold' in result) hold = result.hold
        else holder = result?.holder ?? null
        key = hold?.argument ?? NO_TICKET
      }
    }
    const answer = await ask(key)
    if (!('what' in answer)) return answer
    if (answer.what === 'barred') {
      if (holder === null) continue
      const [differs = []] = await keys.differences([{ spec: task, holder }])
      if (differs.length > 0) throw new TaskConflictError(holder, differs)
      throw new DuplicateExecutionError(task.id, request.attempt)
    }
    if (hold !== null) await keys.giveUp([hold])
    throw refusal(request, answer.what === 'full' ? await inAll(store, answer) : answer)
  }
  throw new StoreBusyError('Others want the same dedupe key at the same time.')
}

async function isKnown(store: Partitions, id: string): Promise<boolean> {
  const partition = store.of(id)
  return Number(await partition.command('EXISTS', partition.taskKey(id))) === 1
}

/** The refusal names the limit of the whole store, not the share. */
async function inAll({ home }: Partitions, { what, details }: ReserveRefusal): Promise<ReserveRefusal> {
  const [scope = '', share = ''] = details
  const total = await home.command('HGET', home.key('totals'), scope)
  return { what, details: [scope, total === null ? share : String(total)] }
}

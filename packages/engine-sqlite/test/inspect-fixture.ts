// A store to be damaged by hand: one task for each place where a task can stand, raw access to the file, and a worker that runs
// everything to its end.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type Decision,
  type Engine,
  type Finding,
  failed,
  lost,
  observedFailure,
  released,
  subjectText,
  succeeded,
  VirtualClock,
} from '@reprise/core'
import { wholeInspection } from '@reprise/engine-conformance'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished } from 'vitest'
import { claimer, spec, temporaryFolder } from './fixture.ts'

export const BY = { actor: 'operator:ann', reason: 'after the disk was full' }
export const failure = observedFailure('validation', 'The size is missing.', spec('any').action)
const dead: Decision = { kind: 'dead', reason: 'not_retriable', rule: 'code', sentence: 'It does not go away.' }
const retry: Decision = { kind: 'retry', delayMs: 0, reason: 'worker_lost', rule: 'code', sentence: 'Again.' }

export interface Damaged {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly path: string
}

/** One task each that is dead, running, assigned, queued, waiting and queued under a key. */
export async function storeWithTaskInEachPlace(): Promise<Damaged> {
  const path = join(temporaryFolder(), 'store.db')
  const clock = new VirtualClock(1_000_000)
  const engine = await openSqliteEngine({ path, clock, durability: 'fast' })
  onTestFinished(() => engine.close())
  const request = await claimer(engine, 'w', 1)
  await engine.submit([spec('dead')])
  const { claimed } = await engine.claim(request)
  await engine.settle(claimed.map((ref) => failed(ref, failure, dead)))
  await engine.submit([spec('running')])
  await engine.claim(request)
  await engine.submit([spec('assigned')])
  const dispatched = await engine.claim({ ...request, stage: 'dispatch' })
  await engine.assign(dispatched.claimed.map((lease) => ({ ...lease, worker: request.worker, ttlMs: 30_000 })))
  await engine.submit([spec('queued'), spec('waiting', { delayMs: 60_000 }), spec('keyed', { dedupeKey: 'k' })])
  return { engine, clock, path }
}

export function damage(path: string, ...sql: readonly string[]): void {
  const db = new DatabaseSync(path, { timeout: 1_000 })
  try {
    for (const one of sql) db.prepare(one).run()
  } finally {
    db.close()
  }
}

/** Redrives, sweeps and works until nothing is left to do. */
export async function runToEnd({ engine, clock }: Damaged): Promise<void> {
  await engine.change({ kind: 'redrive', select: {}, by: BY })
  for (let round = 0; round < 5; round++) {
    clock.jump(60_000)
    const { overdue } = await engine.expired(100)
    await engine.settle(
      overdue.flatMap((item) => {
        if (item.kind === 'lease') return [lost(item.ref, failure, retry)]
        return item.kind === 'undelivered' ? [released(item.ref, 'not collected')] : []
      }),
    )
    const { claimed } = await engine.claim(await claimer(engine, 'last'))
    await engine.settle(claimed.map((ref) => succeeded(ref, null)))
  }
  const { accepted, succeeded: done } = await engine.counts()
  expect(done).toBe(accepted)
  expect((await look(engine)).findings).toEqual([])
}

export const look = (engine: Engine) => wholeInspection(engine, { repair: false, by: BY })
export const repair = (engine: Engine) => wholeInspection(engine, { repair: true, by: BY })
export const brief = ({ kind, subject }: Finding): string => `${kind}: ${subjectText(subject)}`

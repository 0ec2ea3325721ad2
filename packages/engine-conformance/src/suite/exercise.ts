// The table of contents: every subject that an engine is tried on, and the call that registers all of them.

import { VirtualClock } from '@reprise/core'
import { describe } from 'vitest'
import type { EngineFactory } from '../factory.ts'
import { avoiding } from './avoiding.ts'
import { breakers } from './breakers.ts'
import { builds } from './builds.ts'
import { cancelling } from './cancel.ts'
import { claiming } from './claim.ts'
import { collections } from './collections.ts'
import { completion } from './completion.ts'
import { conflicts } from './conflicts.ts'
import { counters } from './counters.ts'
import { deadLetters } from './dead-letters.ts'
import { dedupeKeys } from './dedupe-keys.ts'
import { delayQueue } from './delay-queue.ts'
import { dispatching } from './dispatching.ts'
import { explaining } from './explaining.ts'
import { fencing } from './fencing.ts'
import { health } from './health.ts'
import { healthSwitches } from './health-switches.ts'
import { inspecting } from './inspect.ts'
import { journal } from './journal.ts'
import { launching } from './launching.ts'
import { leases } from './leases.ts'
import { logs } from './logs.ts'
import { looking } from './looking.ts'
import { pasts } from './past.ts'
import { pausing } from './pausing.ts'
import { queueTtl } from './queue-ttl.ts'
import { quotas } from './quotas.ts'
import { ranks } from './ranks.ts'
import { recovery } from './recovery.ts'
import { registry } from './registry.ts'
import { releasing } from './release.ts'
import { reserving } from './reserve.ts'
import { retention } from './retention.ts'
import { settling } from './settle.ts'
import { silence } from './silence.ts'
import { registerSubject, type Subject } from './subject.ts'
import { submitting } from './submit.ts'
import { tenants } from './tenants.ts'
import { text } from './text.ts'
import { vouching } from './vouching.ts'
import { waiting } from './waiting.ts'

const SUBJECTS: readonly Subject[] = [
  submitting,
  dedupeKeys,
  conflicts,
  pasts,
  claiming,
  health,
  healthSwitches,
  avoiding,
  dispatching,
  launching,
  leases,
  vouching,
  logs,
  settling,
  fencing,
  delayQueue,
  silence,
  queueTtl,
  releasing,
  reserving,
  registry,
  builds,
  deadLetters,
  cancelling,
  pausing,
  ranks,
  breakers,
  quotas,
  counters,
  tenants,
  journal,
  completion,
  recovery,
  collections,
  explaining,
  looking,
  retention,
  inspecting,
  text,
  waiting,
]

/** Names that an engine may put into `info.lacks`. */
export const SUBJECT_NAMES: readonly string[] = SUBJECTS.map(({ name }) => name)

export interface ExerciseOptions {
  /** Only these subjects; all of them if not given. For working on one of them. */
  readonly subjects?: readonly string[]
}

/** Registers the whole suite for one engine. Each test opens a fresh store and closes it. */
export function exerciseEngine(factory: EngineFactory, options: ExerciseOptions = {}): void {
  describe(`${factory.name} as an engine`, async () => {
    const engine = await factory.open({ clock: new VirtualClock() })
    const { lacks } = engine.info
    await engine.close()
    for (const subject of SUBJECTS) {
      if (options.subjects?.includes(subject.name) ?? true) registerSubject(subject, factory, lacks)
    }
  })
}

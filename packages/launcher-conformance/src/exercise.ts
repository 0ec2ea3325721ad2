// The table of contents: every subject that a launcher is tried on, and the call that registers all of them.

import { describe } from 'vitest'
import type { LauncherFactory } from './factory.ts'
import { registerSubject, type Subject } from './subject.ts'
import { ending } from './suite/ending.ts'
import { finding } from './suite/finding.ts'
import { orchestrated } from './suite/orchestrated.ts'
import { starting } from './suite/starting.ts'

const SUBJECTS: readonly Subject[] = [
  { name: 'starting', checks: starting },
  { name: 'finding', checks: finding },
  { name: 'ending', checks: ending },
  { name: 'under an orchestrator', checks: orchestrated },
]

/** Registers the whole suite for one launcher, as tests of Vitest. */
export function exerciseLauncher(factory: LauncherFactory): void {
  describe(`launcher ${factory.name}`, () => {
    for (const subject of SUBJECTS) registerSubject(subject, factory)
  })
}

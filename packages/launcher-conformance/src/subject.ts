// One subject of the suite: checks with a title, each on a stage of its own.

import { describe, it } from 'vitest'
import type { LauncherFactory, LauncherLack, LauncherStage } from './factory.ts'

export interface Scene {
  readonly stage: LauncherStage
  readonly lacks: ReadonlySet<LauncherLack>
}

export interface Check {
  readonly title: string
  readonly run: (scene: Scene) => Promise<void>
}

export interface Subject {
  readonly name: string
  readonly checks: readonly Check[]
}

const CHECK_MS_MAX = 300_000

export function registerSubject({ name, checks }: Subject, factory: LauncherFactory): void {
  describe(name, () => {
    checks.forEach(({ title, run }) => {
      it(
        title,
        async () => {
          const stage = await factory.open()
          try {
            await run({ stage, lacks: new Set(factory.lacks) })
          } finally {
            await stage.close()
          }
        },
        CHECK_MS_MAX,
      )
    })
  })
}

// A subject is one chapter of the suite. An engine may declare in `info.lacks` that it can't do one: the chapter is then
// replaced by a single test that says so, and counted, so that a gap is never silent.

import { describe, it } from 'vitest'
import type { EngineFactory, EngineOptions } from '../factory.ts'
import { Store } from './fixture.ts'
import { inOnePlace } from './one-place.ts'

interface CheckOptions extends Omit<EngineOptions, 'clock'> {
  /** It is about the order of tasks among each other. */
  readonly ordered?: boolean
}

/** Registers one test on a fresh store. */
export type Check = (title: string, body: (store: Store) => Promise<void>, options?: CheckOptions) => void

export interface Subject {
  readonly name: string
  readonly register: (check: Check) => void
}

export const subject = (name: string, register: Subject['register']): Subject => ({ name, register })

let lacksCount = 0

/** How many subjects the engines tried in this process have declared they lack. */
export const declaredLacks = (): number => lacksCount

export function registerSubject({ name, register }: Subject, factory: EngineFactory, lacks: readonly string[]): void {
  describe(name, () => {
    if (lacks.includes(name)) {
      lacksCount++
      it(`declares it lacks ${name}`, () =>
        console.warn(`${factory.name} declares it lacks ${name}; nothing of it was tried.`))
      return
    }
    register((title, body, { ordered = false, ...options } = {}) => {
      it(title, async () => {
        const store = await Store.open(ordered ? inOnePlace(factory) : factory, options)
        try {
          await body(store)
        } finally {
          await store.engine.close()
        }
      })
    })
  })
}

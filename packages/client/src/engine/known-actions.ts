// The settings of actions that a submission names without declaring them: those that a worker has published in the store, else
// the usual ones. Looked up at most every few seconds per name.

import {
  type ActionName,
  type CataloguedAction,
  type Clock,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  findAction,
  type TaskSpec,
} from '@reprise/core'
import type { Submission } from '../backend.ts'

const FRESH_MS = 5_000
const NAMES_MAX = 1_000

export class KnownActions {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #known = new Map<ActionName, { readonly action: CataloguedAction; readonly at: number }>()

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** With everything that a submission leaves to its action filled in. */
  async specs(submissions: readonly Submission[]): Promise<readonly TaskSpec[]> {
    if (submissions.every(isComplete)) return submissions
    const specs: TaskSpec[] = []
    for (const submission of submissions) {
      if (isComplete(submission)) {
        specs.push(submission)
        continue
      }
      const { pool, settings } = this.#fresh(submission.action) ?? (await this.#look(submission.action))
      specs.push({
        ...submission,
        pool: submission.pool ?? pool,
        settings: submission.settings ?? settings,
        tenant: submission.tenant ?? DEFAULT_TENANT,
      })
    }
    return specs
  }

  #fresh(name: ActionName): CataloguedAction | null {
    const known = this.#known.get(name)
    return known !== undefined && this.#clock.monotonic() - known.at < FRESH_MS ? known.action : null
  }

  async #look(name: ActionName): Promise<CataloguedAction> {
    const found = await findAction(this.#engine, name)
    const action = found ?? { name, pool: DEFAULT_POOL, settings: DEFAULT_SETTINGS }
    if (this.#known.size >= NAMES_MAX) this.#known.clear()
    this.#known.set(name, { action, at: this.#clock.monotonic() })
    return action
  }
}

const isComplete = (submission: Submission): submission is TaskSpec =>
  submission.pool !== null && submission.settings !== null && submission.tenant !== null

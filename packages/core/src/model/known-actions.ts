// The settings of actions by name, for submissions that name an action without declaring it: those of packs that a server was
// given, else those that a worker has published in the store. What the action left open is filled in. Looked up at most every few seconds per name.

import type { Engine } from '../port/engine.ts'
import type { Clock } from '../runtime/clock.ts'
import { DEFAULT_SETTINGS } from './action.ts'
import { type CataloguedAction, findAction } from './action-catalogue.ts'
import { type ActionName, DEFAULT_POOL } from './ids.ts'
import { openSettings, type SettingDefaults, settingsFiller } from './setting-defaults.ts'

const FRESH_MS = 5_000
const NAMES_MAX = 10_000

interface Known {
  readonly action: CataloguedAction
  /** On the monotonic clock. */
  readonly at: number
}

export class KnownActions {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #declared: ReadonlyMap<string, CataloguedAction>
  readonly #known = new Map<string, Known>()

  readonly #fill: ReturnType<typeof settingsFiller>

  /** `defaults` fill in what actions leave open. */
  constructor(
    engine: Engine,
    clock: Clock,
    declared: readonly CataloguedAction[] = [],
    defaults: SettingDefaults = {},
  ) {
    this.#engine = engine
    this.#clock = clock
    this.#fill = settingsFiller(defaults)
    this.#declared = new Map(declared.map((action) => [action.name, this.#filled(action)]))
  }

  #filled(action: CataloguedAction): CataloguedAction {
    const { settings, leftOpen } = action
    if (this.#fill === null || leftOpen === undefined) return action
    return { ...action, settings: this.#fill(settings, leftOpen) }
  }

  /** What is known at this moment, without a look at the store; null if that is nothing fresh. */
  known(name: ActionName): CataloguedAction | null {
    const declared = this.#declared.get(name)
    if (declared !== undefined) return declared
    const known = this.#known.get(name)
    return known !== undefined && this.#clock.monotonic() - known.at < FRESH_MS ? known.action : null
  }

  /** An action that nobody has declared has the usual settings. */
  async find(name: ActionName): Promise<CataloguedAction> {
    const known = this.known(name)
    if (known !== null) return known
    const found = await findAction(this.#engine, name)
    const usual = { name, pool: DEFAULT_POOL, settings: DEFAULT_SETTINGS, leftOpen: openSettings({}) }
    const action = this.#filled(found ?? usual)
    if (this.#known.size >= NAMES_MAX) this.#known.clear()
    this.#known.set(name, { action, at: this.#clock.monotonic() })
    return action
  }
}

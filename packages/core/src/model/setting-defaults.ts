// What holds for the whole system where an action says nothing of its own (C7, C11): time-out, queue TTL, backoff. An action
// remembers what it left open. What builds a task fills that in: a server, or a client straight on an engine. What a task
// was accepted with stays with it.

import { type BackoffOptions, resolveBackoff } from '../policy/backoff.ts'
import { type Duration, durationMs } from './duration.ts'
import { InvalidError } from './errors.ts'
import { refuseUnknownKeys } from './options.ts'
import type { TaskSettings } from './task.ts'

/** As people write them. */
export interface SettingDefaultOptions {
  readonly timeout?: Duration
  readonly queueTtl?: Duration
  readonly backoff?: BackoffOptions
}

/** Those that are set. */
export type SettingDefaults = Partial<Pick<TaskSettings, OpenSetting>>

/** A setting that an action may leave to the system. */
export type OpenSetting = 'timeoutMs' | 'queueTtlMs' | 'backoff'

const OPTION_OF = { timeoutMs: 'timeout', queueTtlMs: 'queueTtl', backoff: 'backoff' } as const satisfies Record<
  OpenSetting,
  keyof SettingDefaultOptions
>

/** What these options of an action leave open. */
export const openSettings = (options: SettingDefaultOptions): readonly OpenSetting[] =>
  (Object.keys(OPTION_OF) as OpenSetting[]).filter((setting) => options[OPTION_OF[setting]] === undefined)

export function resolveDefaults(options: SettingDefaultOptions): SettingDefaults {
  refuseUnknownKeys(options, Object.values(OPTION_OF), 'default')
  const { timeout, queueTtl, backoff } = options
  return {
    ...(timeout === undefined ? {} : { timeoutMs: positive(timeout, 'default time-out') }),
    ...(queueTtl === undefined ? {} : { queueTtlMs: positive(queueTtl, 'default queue TTL') }),
    ...(backoff === undefined ? {} : { backoff: resolveBackoff(backoff) }),
  }
}

function positive(duration: Duration, what: string): number {
  const ms = durationMs(duration, what)
  if (ms < 1) throw new InvalidError(`The ${what} must be at least 1 ms.`)
  return ms
}

/** The settings with what their action left open filled in. Null if there is nothing to fill in, ever. */
export function settingsFiller(
  defaults: SettingDefaults,
): ((settings: TaskSettings, open: readonly OpenSetting[]) => TaskSettings) | null {
  const set = Object.keys(defaults) as OpenSetting[]
  if (set.length === 0) return null
  // The same settings give the same object, as before: stores tell classes of tasks apart by it.
  const filled = new WeakMap<TaskSettings, TaskSettings>()
  return (settings, open) => {
    const found = filled.get(settings)
    if (found !== undefined) return found
    const wanted = set.filter((setting) => open.includes(setting))
    const result = { ...settings, ...Object.fromEntries(wanted.map((setting) => [setting, defaults[setting]])) }
    filled.set(settings, result)
    return result
  }
}

// Every setting of Reprise in one table: what it is called as a flag, in the environment and in the file, and what it is
// if nobody says anything. Reading, `config print`, the flags of commands and docs/configuration.md follow it.

import { CONNECTION_SETTINGS } from './connection-settings.ts'
import { SERVER_SETTINGS } from './server-settings.ts'
import { SERVICE_SETTINGS } from './service-settings.ts'
import { named, type Setting } from './setting.ts'

export const SETTINGS = named({ ...CONNECTION_SETTINGS, ...SERVER_SETTINGS, ...SERVICE_SETTINGS } as const)

export type SettingName = keyof typeof SETTINGS
type ValueOf<S> = S extends Setting<infer T> ? T : never

/** Everything, complete and checked. */
export type Configuration = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

/** `port` of `--port <port>`; null for a setting without a flag. */
export function flagName(name: SettingName): string | null {
  return /^--([\w-]+)/.exec(SETTINGS[name].flag ?? '')?.[1] ?? null
}

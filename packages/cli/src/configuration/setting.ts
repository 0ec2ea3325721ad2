// What a setting is: how it is called wherever it can be given, what it is if nobody says anything, and who uses it.

import type { Kind } from './kinds.ts'

/** Who uses a setting. `up` is all of them in one process; `client` is every command that talks to a server or a store. */
export type SettingUser = 'client' | 'core' | 'orchestrator' | 'worker'

export interface Setting<T> {
  readonly kind: Kind<T>
  /** `--port <port>`; null if it has none. */
  readonly flag: string | null
  /** The first that is set counts. */
  readonly variables: readonly string[]
  /** Where it stands in the file: `oidc.issuer`; null if it may not stand there. */
  readonly key: string | null
  readonly default: T
  /** What the default is, where it depends on something. */
  readonly defaultText?: string
  /** Never shown, and can be given as a file: `<VARIABLE>_FILE`. */
  readonly secret?: true
  /** May hold a password, which is not shown; can be given as a file as well. */
  readonly address?: true
  /** Names files: resolved against the folder of the file it stands in, or the working directory. */
  readonly path?: true
  readonly users: readonly SettingUser[]
  readonly about: string
}

/** Keeps the type of the value. */
export const setting = <T>(made: Setting<T>): Setting<T> => made

export const ALL: readonly SettingUser[] = ['client', 'core', 'orchestrator', 'worker']
export const SERVICES: readonly SettingUser[] = ['core', 'orchestrator', 'worker']

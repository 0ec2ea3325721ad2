// What a case finds when it begins: a server, an attacker's tenant and a victim's, and credentials with exactly the rights
// that it asks for. Tenants are new for each case, so that cases can share a server.

import type { Scope } from '@reprise/operations'
import type { EngineName } from '../arguments.ts'
import type { Api } from './api.ts'
import type { RunningServer, ServerOptions } from './server.ts'
import type { Stage } from './stage.ts'
import type { Stores } from './store.ts'

type Rights = 'viewer' | 'operator' | 'admin' | readonly Scope[]

/** One of the two tenants. */
interface Party {
  readonly tenant: string
  /** A new API token of this tenant with these rights. */
  readonly as: (rights: Rights, more?: Readonly<Record<string, unknown>>) => Promise<Api>
}

export interface Scene {
  readonly server: RunningServer
  readonly engine: EngineName
  /** The operator of the whole store. */
  readonly admin: Api
  /** Nobody known. */
  readonly anyone: Api
  /** The attacker. */
  readonly a: Party
  /** The victim. */
  readonly b: Party
  /** Of two amounts, the one that this run is about: the small one in the fast part. */
  readonly amount: (full: number, small: number) => number
  /** Repeats an attack for as long as the neighbour is timed; at least once. */
  readonly keepUp: (attack: () => Promise<unknown>) => Promise<void>
  /** A token with these rights for the whole store, such as a worker's. */
  readonly wholeStore: (rights: Rights | 'worker') => Promise<Api>
  /** A folder for the case alone. */
  readonly folder: () => string
  /** Another server, which is stopped when the case is over. It has a store of its own unless one is named. */
  readonly another: (options?: Partial<ServerOptions>) => Promise<RunningServer>
  /** Called when the case is over, the last first. */
  readonly later: (step: () => unknown) => void
}

export interface SceneOptions {
  readonly server: RunningServer
  readonly stage: Stage
  readonly engine: EngineName
  readonly stores: Stores
  readonly number: number
  readonly isSmall: boolean
  /** How long attacks are kept up. */
  readonly keepUpMs: number
}

export interface SetScene extends Scene, AsyncDisposable {}

export function setScene({ server, stage, engine, stores, number, isSmall, keepUpMs }: SceneOptions): SetScene {
  const { admin } = server
  const steps: (() => unknown)[] = []
  let names = 0
  let folders = 0
  const token = async (rights: Rights | 'worker', tenants: readonly string[] | null, more = {}): Promise<Api> => {
    const what = typeof rights === 'string' ? { role: rights } : { scopes: rights }
    const name = `case-${number}-${++names}`
    const made = await admin.post<{ readonly token: string }>('/api/v1/tokens', { name, tenants, ...what, ...more })
    if (made.status !== 201) throw new Error(`No token could be made: ${made.status} ${made.text.slice(0, 300)}`)
    return admin.as(made.body.token)
  }
  const party = (tenant: string): Party => ({ tenant, as: (rights, more) => token(rights, [tenant], more) })
  const folder = (): string => `${stores.folder}/case-${number}-${++folders}`
  return {
    server,
    engine,
    admin,
    anyone: admin.as(null),
    a: party(`attacker-${number}`),
    b: party(`victim-${number}`),
    amount: (full, small) => (isSmall ? small : full),
    keepUp: async (attack) => {
      const until = performance.now() + keepUpMs
      do await attack()
      while (performance.now() < until)
    },
    wholeStore: (rights) => token(rights, null),
    folder,
    another: async (options = {}) => {
      const started = await stage.startServer({ folder: folder(), store: options.store ?? stores.fresh(), ...options })
      steps.push(() => started.stop())
      return started
    },
    later: (step) => void steps.push(step),
    [Symbol.asyncDispose]: async () => {
      for (const step of steps.toReversed()) await step()
    },
  }
}

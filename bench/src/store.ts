// A store that contestants are measured on, as one process describes it to another; and the two things every process
// may do with it from outside: name it to Reprise, and empty it.

import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { EngineName, Mode } from './arguments.ts'
import { clearRedis } from './redis-admin.ts'

export interface Store {
  readonly engine: EngineName
  /** The path of a file in a folder of its own, or the URL of a server that is there for the benchmark alone. */
  readonly at: string
  readonly mode: Mode
}

/** The address under which an application reaches it. A server has its mode from its own settings. */
export function addressOf({ engine, at, mode }: Store): string {
  return engine === 'sqlite' ? `sqlite:${at}?durability=${mode}` : at
}

/** Nobody may have it open. */
export async function clearStore({ engine, at }: Store): Promise<void> {
  if (engine === 'redis') return clearRedis(at)
  rmSync(dirname(at), { recursive: true, force: true })
  mkdirSync(dirname(at), { recursive: true })
}

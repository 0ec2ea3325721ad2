// The run directories, one for each order: <root>/<key>/<token>, both encoded. A directory is prepared elsewhere and moved
// to its place whole, so half a run directory never shows, and of two orders with one token one is refused. Tokens are never
// used twice, and neither are names: removing a run by its name can't hit a newer one.

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuplicateExecutionError, type LaunchOrder } from '@reprise/core'
import { monotonicMs } from '../monotonic.ts'
import { bootId } from '../processes.ts'
import { failpoint } from './failpoint.ts'
import { ENDED, FILE, type GateFile, type OrderFile, type OutcomeFile, putOnce } from './protocol.ts'

export interface Run {
  readonly key: string
  readonly name: string
  readonly path: string
}

type IsOver = (run: Run) => Promise<boolean>

const NEW = '.new'
const GONE = '.gone'
const PLACE_TRIES_MAX = 5

export class Runs {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /** Where the names of ended runs show up. */
  get ended(): string {
    return join(this.root, ENDED)
  }

  /** Makes the root, also if it was deleted since the last launch. Payloads lie here: nobody else may read them. */
  async #prepare(): Promise<void> {
    for (const folder of [NEW, GONE, ENDED]) await mkdir(join(this.root, folder), { recursive: true, mode: 0o700 })
  }

  /** While the root is missing, or the empty place where a disk belongs, nothing can be said of any run. */
  async isThere(): Promise<boolean> {
    const found = await orIfMissing(stat(this.ended), null)
    return found?.isDirectory() === true
  }

  run(key: string, name: string): Run {
    return { key, name, path: join(this.root, encodedKey(key), name) }
  }

  /** Every run of the key, also those that never began. */
  async of(key: string): Promise<Run[]> {
    const names = await orIfMissing(readdir(join(this.root, encodedKey(key))), [])
    return names.filter(isRunName).map((name) => this.run(key, name))
  }

  /**
   * The gate of A2: one order with this key gets a directory, all others a DuplicateExecutionError. `isOver` says of a run
   * whether nothing of it lives or will.
   */
  async place(order: LaunchOrder, endedWithinMs: number, isOver: IsOver): Promise<Run> {
    await this.#prepare()
    await this.#refuseIfTaken(order, null, isOver)
    const run = this.run(order.key, runName(order.token))
    const prepared = await this.#prepareRun(order, endedWithinMs)
    failpoint('launcher:prepared')
    try {
      await this.#move(prepared, run, order, isOver)
    } catch (error) {
      await rm(prepared, { recursive: true, force: true })
      throw error
    }
    try {
      // Another token for the same key means that one of the two is stale. Nothing was started here yet: step back.
      await this.#refuseIfTaken(order, run, isOver)
    } catch (error) {
      if (await this.bar(run)) await this.remove(run)
      throw error
    }
    return run
  }

  async #prepareRun(order: LaunchOrder, endedWithinMs: number): Promise<string> {
    const path = join(this.root, NEW, randomUUID())
    const { key, taskId, attempt, voidAt } = order
    const content: OrderFile = { key, taskId, attempt, voidAt, bootId: bootId(), endedWithinMs }
    await mkdir(path, { mode: 0o700 })
    await writeFile(join(path, FILE.order), JSON.stringify(content), { mode: 0o600 })
    await writeFile(join(path, FILE.input), order.payload, { mode: 0o600 })
    return path
  }

  async #move(prepared: string, run: Run, order: LaunchOrder, isOver: IsOver): Promise<void> {
    for (let tries = 0; tries < PLACE_TRIES_MAX; tries++) {
      await mkdir(join(run.path, '..'), { recursive: true, mode: 0o700 })
      try {
        // Fails if there is a directory with anything in it, as a run directory always has.
        return await rename(prepared, run.path)
      } catch (error) {
        const code = errorCode(error)
        if (code === 'EEXIST' || code === 'ENOTEMPTY') await this.#refuseIfTaken(order, null, isOver)
        else if (code !== 'ENOENT') throw error
        // Else somebody has just removed the folder of the key, being empty.
      }
    }
    throw new DuplicateExecutionError(order.taskId, order.attempt)
  }

  async #refuseIfTaken(order: LaunchOrder, own: Run | null, isOver: IsOver): Promise<void> {
    for (const run of await this.of(order.key)) {
      if (run.name === own?.name) continue
      // What ended under another token was released: its outcome is not this attempt's. While it runs, nothing else may.
      const mayGo = run.name === runName(order.token) ? this.isBarred(run) : isOver(run)
      if (!(await mayGo)) throw new DuplicateExecutionError(order.taskId, order.attempt)
      await this.remove(run)
    }
  }

  /** Whether nothing began in it, and nothing will. Bars it if its order is void. */
  async isBarred(run: Run): Promise<boolean> {
    const gate = await this.read<GateFile>(run, FILE.gate)
    if (gate === null) return (await this.isVoid(run)) && (await this.bar(run))
    if (gate !== 'unreadable' && gate.by === 'bar') return true
    const outcome = await this.read<OutcomeFile>(run, FILE.outcome)
    return outcome !== null && outcome !== 'unreadable' && outcome.kind === 'unstarted'
  }

  async isVoid(run: Run): Promise<boolean> {
    const order = await this.read<OrderFile>(run, FILE.order)
    if (order === null || order === 'unreadable') return true
    // The monotonic clock begins anew with the machine; no process of before can still be about to start something.
    return order.bootId !== bootId() || monotonicMs() >= order.voidAt
  }

  /** Sees to it that nothing will be started. False if its supervisor was first. */
  bar(run: Run): Promise<boolean> {
    return Promise.try(() => putOnce(join(run.path, FILE.gate), { by: 'bar' }, randomUUID())).catch(
      (error: unknown) => {
        // It was removed, as only what is barred or over is.
        if (errorCode(error) === 'ENOENT') return true
        throw error
      },
    )
  }

  /** Null if there is no such file. Unreadable is what a loss of power may leave. */
  async read<Content>(run: Run, file: string): Promise<Content | null | 'unreadable'> {
    const text = await orIfMissing(readFile(join(run.path, file), 'utf8'), null)
    if (text === null) return null
    try {
      return JSON.parse(text) as Content
    } catch {
      return 'unreadable'
    }
  }

  /** In one step as seen from outside. */
  async remove(run: Run): Promise<void> {
    const gone = join(this.root, GONE, randomUUID())
    try {
      // Not the root: where that is missing, there is nothing to remove.
      await mkdir(join(this.root, GONE), { mode: 0o700 }).catch(() => undefined)
      await rename(run.path, gone)
      await rm(gone, { recursive: true, force: true })
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error
    }
    await rm(join(this.ended, run.name), { force: true })
    // Only when it is empty: another run of the same key may be there.
    await rmdir(join(run.path, '..')).catch(() => undefined)
  }

  /** All runs that were last touched before the given moment, of whatever key. */
  async olderThan(epochMs: number): Promise<Run[]> {
    const found: Run[] = []
    for (const folder of await orIfMissing(readdir(this.root), [])) {
      if (folder.startsWith('.')) continue
      for (const name of await orIfMissing(readdir(join(this.root, folder)), [])) {
        if (!isRunName(name)) continue
        const path = join(this.root, folder, name)
        const touchedAt = await orIfMissing(
          stat(path).then(({ mtimeMs }) => mtimeMs),
          Number.POSITIVE_INFINITY,
        )
        if (touchedAt >= epochMs) continue
        const order = await this.read<OrderFile>({ key: '', name, path }, FILE.order)
        found.push({ key: order === null || order === 'unreadable' ? '' : order.key, name, path })
      }
    }
    return found
  }

  /** Removes what launchers that died left half made or half removed. */
  async removeLeftovers(epochMs: number): Promise<void> {
    for (const folder of [NEW, GONE, ENDED]) {
      for (const name of await orIfMissing(readdir(join(this.root, folder)), [])) {
        const path = join(this.root, folder, name)
        const { mtimeMs } = await orIfMissing(stat(path), { mtimeMs: Number.POSITIVE_INFINITY })
        if (mtimeMs < epochMs) await rm(path, { recursive: true, force: true })
      }
    }
  }
}

/** The name of a run: it tells tokens apart and gives none away. */
export const runName = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 24)

/** Names become paths, and what is at a path may be removed: only what runName() makes is one. */
export const isRunName = (name: string): boolean => /^[0-9a-f]{24}$/.test(name)

// Readable as far as it goes; the digest is what tells keys apart.
function encodedKey(key: string): string {
  const readable = key.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)
  return `${readable}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

async function orIfMissing<Value, Other>(reading: Promise<Value>, other: Other): Promise<Value | Other> {
  try {
    return await reading
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return other
    throw error
  }
}

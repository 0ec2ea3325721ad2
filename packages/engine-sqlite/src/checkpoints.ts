// Checkpoints: what was committed to the log of the file is copied into the file itself, now and then. That takes long, and
// would hold everything else that the process does; so a thread of its own does it, with a connection of its own, while
// commits go on. It begins with the first log that has grown. Should the thread lag behind, or not be had, the
// connection itself does what is left at `BACKSTOP_PAGES`.

import { Worker } from 'node:worker_threads'
import type { Clock } from '@reprise/core'
import type { Database } from './database.ts'

/** In pages of 4 KiB: so much is worth a checkpoint. */
const WORTH_PAGES = 1_000
const LOOK_EVERY_MS = 10

/** What Node says about its SQLite, it has said for the process already. */
const QUIET = ['--disable-warning=ExperimentalWarning']

/** In words rather than a file of its own, so that bundlers have nothing to follow. */
const THREAD = `
const { existsSync } = require('node:fs')
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
let db = null
parentPort.on('message', (order) => {
  try {
    if (order === 'close') {
      db?.close()
      parentPort.close()
      return
    }
    if (db === null && existsSync(workerData)) db = new DatabaseSync(workerData, { timeout: 0 })
    db?.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
  } catch {
    // Busy, or the disk failed: the next commit will find out.
  }
  parentPort.postMessage('done')
})`

export class Checkpoints {
  readonly #db: Database
  readonly #clock: Clock
  readonly #path: string
  #thread: Worker | null = null
  #isUnderWay = false
  #lookAt = 0

  constructor(db: Database, clock: Clock, path: string) {
    this.#db = db
    this.#clock = clock
    this.#path = path
  }

  /** After a commit. */
  look(): void {
    if (this.#isUnderWay) return
    const now = this.#clock.monotonic()
    if (now < this.#lookAt) return
    this.#lookAt = now + LOOK_EVERY_MS
    if (this.#logPages() < WORTH_PAGES) return
    // Stays so for good if there is no thread, or no more: then the backstop counts.
    this.#isUnderWay = true
    this.#thread ??= this.#start()
    this.#thread?.postMessage('checkpoint')
  }

  async close(): Promise<void> {
    const thread = this.#thread
    if (thread === null) return
    this.#isUnderWay = true
    this.#thread = null
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.ref()
    thread.postMessage('close')
    await ended
  }

  #logPages(): number {
    try {
      return this.#db.logPages()
    } catch {
      // Another process has the log; the next look will do.
      return 0
    }
  }

  #start(): Worker | null {
    let thread: Worker
    try {
      thread = new Worker(THREAD, { eval: true, workerData: this.#path, execArgv: QUIET, env: {} })
    } catch {
      return null
    }
    thread.unref()
    thread.on('message', () => {
      this.#isUnderWay = false
    })
    thread.on('error', () => {})
    thread.once('exit', () => {
      this.#thread = null
    })
    return thread
  }
}

// A role runs until somebody asks its process to end. That may come while the role still starts: a store that is away is waited
// for, and the one who asks for the end need not wait as well. What a role does at the end is its own business.

import { sleep } from '@reprise/core'
import type { Host } from '../host.ts'

const PRESENCE_MS = 60_000

/** Keeps the process alive meanwhile: timers of services do not. */
export async function untilAskedToEnd({ asked, clock }: Pick<Host, 'asked' | 'clock'>): Promise<void> {
  while (!asked.aborted) await sleep(clock, PRESENCE_MS, asked, { hold: true })
}

/** Somebody asked for the end before the start had come to its own. No failure: run.ts ends the process in order. */
export class AskedToEndError extends Error {
  constructor() {
    super('Asked to end before it had started.')
    this.name = 'AskedToEndError'
  }
}

/** What is being started, unless somebody asks for the end first; what comes of it after that is undone. */
export async function unlessAskedToEnd<T>(
  { asked }: Pick<Host, 'asked'>,
  starting: Promise<T>,
  undo: (late: T) => Promise<unknown>,
): Promise<T> {
  const ended = Promise.withResolvers<never>()
  const end = (): void => ended.reject(new AskedToEndError())
  if (asked.aborted) end()
  else asked.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([starting, ended.promise])
  } catch (error) {
    // Nobody waits for it any more, so nobody is told if it fails after all.
    if (error instanceof AskedToEndError) starting.then(undo).catch(() => undefined)
    throw error
  } finally {
    asked.removeEventListener('abort', end)
  }
}

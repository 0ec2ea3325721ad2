// Starting may take long: a store that is away is waited for. Whoever asks the process to end meanwhile need not wait as well.

import type { Host } from '../host.ts'

/** Somebody asked for the end before the start had come to its own. No failure: run.ts ends the process in order. */
export class AskedToEndError extends Error {
  constructor() {
    super('Asked to end before it had started.')
    this.name = 'AskedToEndError'
  }
}

/** What is being started, unless somebody asks for the end first; what comes of it after that is undone. */
export async function unlessAsked<T>(
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

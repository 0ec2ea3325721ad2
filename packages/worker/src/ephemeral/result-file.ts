// The file that a process launcher reads when its command has ended: where the end of an attempt goes that could not be brought
// to the server. Other launchers have none.

import { renameSync, writeFileSync } from 'node:fs'
import type { Completion } from './server-calls.ts'

/** Whether there is such a file, and it holds the end now. */
export function leaveResult(completion: Completion): boolean {
  const path = process.env.REPRISE_RESULT
  if (path === undefined || path === '') return false
  const content = completion.status === 'succeeded' ? completion.result : { error: completion.error }
  try {
    // Whole, or not at all.
    writeFileSync(`${path}.new`, JSON.stringify(content))
    renameSync(`${path}.new`, path)
    return true
  } catch {
    return false
  }
}

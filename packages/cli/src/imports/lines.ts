// The lines of an export, or of a file that was written for the purpose, as tasks on their way in. A line that is no JSON is
// reported by its number and holds up no other.

import { messageOf } from '@reprise/core'
import type { Incoming } from './send.ts'

/** A server takes no larger request. */
const LINE_BYTES_MAX = 2_000_000

export async function* lineTasks(texts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Incoming> {
  let number = 0
  for await (const text of texts) {
    number++
    if (text.trim() === '') continue
    const place = `line ${number}`
    const bytes = Buffer.byteLength(text)
    if (bytes > LINE_BYTES_MAX)
      yield { place, problem: `It has ${bytes} bytes, and at most ${LINE_BYTES_MAX} can be sent.` }
    else yield parsed(place, text, bytes)
  }
}

function parsed(place: string, text: string, bytes: number): Incoming {
  try {
    return { place, task: JSON.parse(text) as unknown, bytes }
  } catch (error) {
    return { place, problem: `It is not JSON: ${messageOf(error)}` }
  }
}

// The lines of a file, read as they are needed: a file may be longer than memory.

import { createReadStream } from 'node:fs'
import { textLines, utf8Texts } from '@reprise/core'
import { usageError } from '../output/errors.ts'

/** `shown` is what the user calls it. */
export async function* fileLines(path: string, shown: string): AsyncGenerator<string> {
  const stream = createReadStream(path)
  await new Promise((opened, failed) => {
    stream.once('open', opened)
    stream.once('error', (error) =>
      failed(usageError(`The file ${shown} can't be read: ${error.message}`, undefined, error)),
    )
  })
  yield* textLines(utf8Texts(stream, `The file ${shown}`))
}

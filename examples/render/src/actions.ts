// What the hosts run: a frame for each chunk, and the film at the end. Every tenth frame fails at its first attempt, as a cold start
// or a lost connection would make it.

import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { type Client, defineAction, TransientError } from '@reprise/client'
import { jobChunks } from '@reprise/jobs'
import { renderFrame } from './frame.ts'

export const FRAME = 'render.frame'
export const JOIN = 'film.join'

/** How long a frame takes, beside the computing. */
const FRAME_MS = 40

export const frameAction = defineAction({
  name: FRAME,
  retry: { max: 3, backoff: { kind: 'fixed', delay: '50ms' } },
  run: async (frame: number, { attempt }) => {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS))
    if (frame % 10 === 3 && attempt === 1) throw new TransientError('the renderer lost its connection')
    return renderFrame(frame)
  },
})

/** Gets the frames in order, page by page, and never holds more than a page. */
export const joinAction = (client: Client, film: string) =>
  defineAction({
    name: JOIN,
    run: async ({ job }: { readonly job: string }) => {
      const digest = createHash('sha256')
      let frames = 0
      await writeFile(film, '')
      for await (const { place, result } of jobChunks(client, job)) {
        if (place !== frames || typeof result !== 'string') throw new Error(`Frame ${frames} is missing.`)
        await writeFile(film, `${result}\n\n`, { flag: 'a' })
        digest.update(result)
        frames++
      }
      return { frames, sha256: digest.digest('hex') }
    },
  })

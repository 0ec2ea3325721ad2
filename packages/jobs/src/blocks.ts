// Gathers the payloads that a source gives into blocks for one call each. A block of a slow source is sent with what came so far,
// so that its chunks run while the next ones are made. A source that gives nothing keeps nobody who asks for an end.

import { type Clock, sleep, systemClock } from '@reprise/core'

const PAYLOADS_PER_CALL = 500
const PAYLOADS_LENGTH_MAX = 500_000
/** From the first look for the payloads of a block until it is sent, full or not. */
const BLOCK_MS_MAX = 1_000

export async function* blocksOf(
  payloads: Iterable<unknown> | AsyncIterable<unknown>,
  { signal, clock = systemClock }: { readonly signal?: AbortSignal; readonly clock?: Clock },
): AsyncGenerator<readonly unknown[]> {
  const source = oneByOne(payloads)
  let coming: Promise<IteratorResult<unknown>> | null = null
  let isOver = false
  try {
    while (!isOver) {
      const block: unknown[] = []
      let length = 0
      const sent = new AbortController()
      const until = signal === undefined ? sent.signal : AbortSignal.any([sent.signal, signal])
      const late = sleep(clock, BLOCK_MS_MAX, until, { hold: true }).then(() => null)
      try {
        while (block.length < PAYLOADS_PER_CALL && length < PAYLOADS_LENGTH_MAX) {
          coming ??= source.next()
          const next = await Promise.race([coming, late])
          if (next === null) break
          coming = null
          isOver = next.done === true
          if (isOver) break
          block.push(next.value)
          length += JSON.stringify(next.value)?.length ?? 0
        }
      } finally {
        sent.abort()
      }
      signal?.throwIfAborted()
      if (block.length > 0) yield block
    }
  } finally {
    // One that owes a payload can't be waited for: it may never give it.
    const closed = isOver ? null : source.return(undefined).catch(() => undefined)
    if (coming === null) await closed
  }
}

async function* oneByOne(payloads: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<unknown> {
  yield* payloads
}

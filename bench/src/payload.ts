// What every contestant is given to carry: an object that is 150 bytes of JSON, different for each task.

export interface Input {
  readonly number: number
  readonly text: string
}

export const PAYLOAD_BYTES = 150
/** How many are handed over in one call, to every contestant alike. */
const SUBMIT_BATCH = 1_000

const FILLER = 'The quick brown fox jumps over the lazy dog. '.repeat(4)

export function inputOf(number: number): Input {
  const bare = JSON.stringify({ number, text: '' }).length
  return { number, text: FILLER.slice(0, PAYLOAD_BYTES - bare) }
}

/** The inputs of tasks `from` to `to`, in batches; made one batch at a time, so that a million need no memory. */
export function* inputBatches(from: number, to: number): Generator<Input[]> {
  for (let start = from; start < to; start += SUBMIT_BATCH) {
    const count = Math.min(SUBMIT_BATCH, to - start)
    yield Array.from({ length: count }, (_, index) => inputOf(start + index))
  }
}

/** From 0 to 1, the same for the same number: chance that comes out alike for every contestant. */
export function chanceOf(number: number): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

// SQS takes up to ten entries in one request, and for sending up to 1 MiB of them together. Entries fail one by one; a request
// that fails as a whole fails for each of its entries.

import type { QueueProblem } from '@reprise/core'

const ENTRIES_MAX = 10
/** Of all messages of one request together. */
const REQUEST_BYTES_MAX = 1_048_576

interface Refusal {
  readonly Id: string | undefined
  readonly Code: string | undefined
  readonly Message?: string | undefined
}

interface BatchAnswer {
  readonly Failed?: readonly Refusal[] | undefined
}

/** One request for each batch, one after the other; what became of each item, in their order. `Id` of an entry is its place. */
export async function inBatches<Item>(
  items: readonly Item[],
  ask: (entries: readonly { readonly Id: string; readonly item: Item }[]) => Promise<BatchAnswer>,
  bytesOf: (item: Item) => number = () => 0,
): Promise<readonly QueueProblem[]> {
  const problems: QueueProblem[] = items.map(() => null)
  for (const batch of batchesOf(items, bytesOf)) {
    try {
      const { Failed = [] } = await ask(batch)
      for (const { Id, Code, Message } of Failed) {
        problems[Number(Id)] = new Error(`SQS refused it: ${Message ?? 'no reason given'} (${Code ?? 'no code'})`)
      }
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error))
      for (const { Id } of batch) problems[Number(Id)] = problem
    }
  }
  return problems
}

function batchesOf<Item>(items: readonly Item[], bytesOf: (item: Item) => number) {
  const batches: { readonly Id: string; readonly item: Item }[][] = []
  let bytes = 0
  for (const [index, item] of items.entries()) {
    const own = bytesOf(item)
    const last = batches.at(-1)
    const fits = last !== undefined && last.length < ENTRIES_MAX && bytes + own <= REQUEST_BYTES_MAX
    bytes = fits ? bytes + own : own
    const entry = { Id: String(index), item }
    if (fits) last.push(entry)
    else batches.push([entry])
  }
  return batches
}

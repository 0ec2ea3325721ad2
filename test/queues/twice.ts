// A queue that delivers some of its messages twice, as SQS may: the second delivery comes while the first is in hand.

import type { OutsideQueue } from '@reprise/core'

export const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }

/** Of the tasks `t0`, `t1`, … */
const EVERY = 20

/** How many of this number of tasks come twice. */
export const twiceOf = (count: number): number => Math.ceil(count / EVERY)

export function deliveringTwice(queue: OutsideQueue): OutsideQueue {
  return {
    name: queue.name,
    facts: () => queue.facts(),
    async receive(options, signal) {
      const deliveries = await queue.receive(options, signal)
      const twice = deliveries.filter(({ receives, body }) => {
        const { id } = JSON.parse(body) as { readonly id: string }
        return receives === 1 && Number(id.slice(1)) % EVERY === 0
      })
      if (twice.length > 0) await queue.hide(twice.map(({ receipt }) => ({ receipt, forMs: 0 })))
      return deliveries
    },
    remove: (receipts) => queue.remove(receipts),
    hide: (entries) => queue.hide(entries),
    send: (messages) => queue.send(messages),
    deadLetters: () => queue.deadLetters(),
    close: () => queue.close(),
  }
}

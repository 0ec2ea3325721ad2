// What the workers of the split deployment run: a little work, and a failure now and then that passes.

import { setTimeout as sleep } from 'node:timers/promises'
import { defineAction, TransientError } from '@reprise/core'

export default [
  defineAction({
    name: 'split.work',
    retry: { max: 5, backoff: { kind: 'fixed', delayMs: 100, jitter: 0 } },
    async run({ n }: { readonly n: number }, { attempt, signal }) {
      await sleep(30, undefined, { signal })
      if (n % 10 === 0 && attempt === 1) throw new TransientError('It passes.')
      return { n }
    },
  }),
]

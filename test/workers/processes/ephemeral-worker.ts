// An ephemeral worker, as a launcher or a test starts it. What it does stands in the payload.

import { PermanentError, runEphemeral } from '@reprise/worker/ephemeral'

interface Job {
  readonly do: 'count' | 'fail' | 'refused' | 'wait' | 'large' | 'stubborn'
  readonly text?: string
}

await runEphemeral(
  async ({ do: what, text = '' }: Job, { log, progress, signal, stillMine, leaseMsLeft, retryToken, attempt }) => {
    log.info('has begun', { what })
    console.log('running')
    switch (what) {
      case 'count':
        progress(0.5, 'half')
        if (!(await stillMine()) || leaseMsLeft() <= 0) throw new Error('not mine')
        return { words: text.split(' ').length, attempt, hasToken: retryToken !== '' }
      case 'fail':
        throw new PermanentError('no such page')
      case 'refused':
        throw Object.assign(new Error('Billing refused.'), { code: 'UPSTREAM', status: 503, orderId: 5 })
      case 'large':
        return 'x'.repeat(2_000_000)
      case 'wait':
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        signal.throwIfAborted()
        return null
      case 'stubborn':
        // Holds the process and never looks at its signal.
        await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        return null
    }
  },
  { patience: process.env.PATIENCE ?? '30s', stopGrace: process.env.STOP_GRACE ?? '300ms' },
)

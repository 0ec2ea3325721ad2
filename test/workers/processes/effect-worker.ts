// A worker whose handlers have an effect: they append a line to a file. It says on standard output when a handler begins.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWorker, defineAction, silentLogger, stopOnSignals } from '@reprise/worker'

const [, , engine = '', file = ''] = process.argv

type Stop = 'while it waits' | 'before it waits'

/**
 * Has its effect after a while, unless it is asked to stop by then. In its first attempt it stops the whole process, which
 * goes on when somebody says so.
 */
const careful = defineAction({
  name: 'careful',
  maxLosses: 5,
  async run(stop: Stop, { signal, attempt, leaseMsLeft, stillMine }) {
    console.log(`attempt ${attempt} begins`)
    const standStill = (when: Stop): void => {
      if (attempt === 1 && stop === when) process.kill(process.pid, 'SIGSTOP')
    }
    standStill('before it waits')
    // Due long before the lease ends, and before any timer that watches it.
    const waited = sleep(200)
    standStill('while it waits')
    await waited
    const seen = { aborted: signal.aborted, leaseMsLeft: leaseMsLeft(), stillMine: await stillMine().catch(() => null) }
    appendFileSync(file, `attempt ${attempt} ${JSON.stringify(seen)}\n`)
    signal.throwIfAborted()
    return null
  },
})

/** In its first attempt its process dies right after the effect, before anybody hears of it. */
const shortLived = defineAction({
  name: 'short-lived',
  run(_: null, { attempt, retryToken }) {
    appendFileSync(file, `attempt ${attempt} with ${retryToken}\n`)
    if (attempt === 1) process.kill(process.pid, 'SIGKILL')
    return null
  },
})

/** Never looks at its signal. */
const deaf = defineAction({
  name: 'deaf',
  async run(_: null, { attempt }) {
    console.log(`attempt ${attempt} begins`)
    await sleep(3_000)
    appendFileSync(file, `effect of attempt ${attempt}\n`)
  },
})

const worker = await createWorker({
  engine,
  actions: [careful, shortLived, deaf],
  lease: '1s',
  stopGrace: '200ms',
  log: silentLogger,
})
stopOnSignals(worker)

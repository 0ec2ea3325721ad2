// A worker whose handlers block the event loop, kill the process, never return, or do none of these. Each attempt that begins appends a line to a
// file. What the worker logs goes to standard output.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWorker, defineAction, type Logger } from '@reprise/worker'

const [, , address = '', file = '', concurrency = '8'] = process.argv

const began = (name: string, attempt: number): void => appendFileSync(file, `${name} ${attempt}\n`)

function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until) Math.sqrt(until)
}

/** Blocks after a while, so that others have begun. */
const blocking = defineAction({
  name: 'blocking',
  timeout: '60s',
  async run(ms: number, { taskId, attempt }) {
    began(taskId, attempt)
    await sleep(300)
    spin(ms)
    return null
  },
})

const endless = defineAction({
  name: 'endless',
  timeout: '2s',
  retry: { max: 0 },
  async run(_: null, { taskId, attempt }) {
    began(taskId, attempt)
    await sleep(300)
    spin(120_000)
    return null
  },
})

/** Takes its worker with it, each time. */
const deadly = defineAction({
  name: 'deadly',
  retry: { backoff: { kind: 'fixed', delay: '50ms' } },
  async run(_: null, { taskId, attempt }) {
    began(taskId, attempt)
    await sleep(200)
    process.kill(process.pid, 'SIGKILL')
    return null
  },
})

const stuck = defineAction({
  name: 'stuck',
  timeout: '500ms',
  run: () => new Promise<never>(() => undefined),
})

const peaceful = defineAction({
  name: 'peaceful',
  timeout: '60s',
  retry: { backoff: { kind: 'fixed', delay: '50ms' } },
  async run(ms: number, { taskId, attempt }) {
    began(taskId, attempt)
    await sleep(ms)
    return null
  },
})

const told = (level: string) => (message: string, fields?: object) => {
  console.log(JSON.stringify({ level, message, ...fields }))
}
const log: Logger = { debug: () => undefined, info: () => undefined, warn: told('warn'), error: told('error') }

const worker = await createWorker({
  // A token that is renewed: the thread must find it too.
  ...(address.startsWith('http:') ? { url: address, token: () => process.env.TOKEN ?? '' } : { engine: address }),
  actions: [blocking, endless, deadly, stuck, peaceful],
  health: {},
  lease: '2s',
  concurrency: Number(concurrency),
  ...(address.startsWith('http:') ? {} : { sweep: false }),
  log,
})
console.log(JSON.stringify({ level: 'info', message: `ready ${worker.endpoint}` }))

// A worker that is killed on the way. It commits each effect under the retry token of its task, as a handler should, and notes every
// execution and its attempt. Arguments: the address of the engine, the folder of its notes.

import { appendFileSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { defineAction } from '@reprise/client'
import { consoleLogger, createWorker } from '@reprise/worker'
import { PAID } from './killed-workers.ts'

const [engine, folder] = process.argv.slice(2)
if (engine === undefined || folder === undefined) throw new Error('Usage: worker-process.ts <engine> <folder>')

/** A file of this name can be made once. */
function committed(token: string): boolean {
  try {
    closeSync(openSync(join(folder ?? '', `effect-${token}`), 'wx'))
    return true
  } catch {
    return false
  }
}

const pay = defineAction<{ readonly number: number }>({
  ...PAID,
  run: async ({ number }, { retryToken, attempt }) => {
    appendFileSync(join(folder, 'executions'), `${number}:${attempt}\n`)
    const isFirst = committed(retryToken)
    if (isFirst) appendFileSync(join(folder, 'commits'), `${number}\n`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  },
})

await createWorker({ engine, actions: [pay], concurrency: 20, lease: '1s', log: consoleLogger({ level: 'error' }) })
process.send?.('running')
process.once('disconnect', () => process.exit())

// reprise status <id>: what its handlers logged, with the attempt.

import { createClient } from '@reprise/client'
import { createWorker, defineAction, silentLogger } from '@reprise/worker'
import { describe, expect, test } from 'vitest'
import { serverAndStore, WAYS } from './server-and-store.ts'

const talking = defineAction({
  name: 'talking',
  run(lines: number, { log }) {
    for (let line = 1; line <= lines; line++) log.warn(`line ${line}\u001b[31m`)
  },
})

describe.each(WAYS)('over %s', (way) => {
  test('the last lines stand with the attempt; --logs shows all that are kept', async () => {
    const here = await serverAndStore()
    const worker = await createWorker({ engine: here.engine, actions: [talking], id: 'w1', log: silentLogger })
    const client = await createClient({ engine: here.engine })
    const task = await client.submit(talking, 120)
    await task.result()
    await worker.stop()
    await client.close()
    const few = (await here.over(way, 'status', task.id)).stdout
    expect(few.match(/warn +line \d+/g)).toHaveLength(5)
    expect(few).toMatch(/… 20 earlier lines were not kept\n.*… 95 earlier lines: --logs shows them\n.*warn {2}line 116/)
    expect(few).not.toContain('\u001b')
    const all = (await here.over(way, 'status', task.id, '--logs')).stdout
    expect(all.match(/warn +line \d+/g)).toHaveLength(100)
    const { logs } = JSON.parse((await here.over(way, 'status', task.id, '--json')).stdout) as { logs: object[] }
    expect(logs).toMatchObject([{ attempt: 1, dropped: 20 }])
  })
})

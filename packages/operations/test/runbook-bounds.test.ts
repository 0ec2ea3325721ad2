// What a run of a runbook must outlive: outputs that its document has no room for, steps that never end, a step that nothing is known
// about, reasons of others that look like its own, and people with fewer rights than it needs.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRedactor } from '@reprise/core'
import { createRunbooks, removeOldRuns, runsIn } from '@reprise/orchestrator'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { createRunbookHands } from '../src/runbooks/hands.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { dead, fingerprintOf, opened, receiver, recovering } from './runbook-fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const OPERATOR: Caller = { ...ANN, kind: 'token', actor: 'token:operator', scopes: new Set(['read', 'operate']) }

/** A server that answers every request with this text, and counts them. */
async function answering(text: string) {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests: () => requests }
}

const runbook = (steps: string, more = ''): string => `name: mine\ntitle: Mine\n${more}steps:\n${steps}`

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-scripts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(folder, name), 0o755)
  return folder
}

describe.each(STORES)('what a run has room for, on %s', (kind) => {
  test('fifty steps with long outputs: each is done once, and the last outputs are cut', async () => {
    const { call, start, moved } = await opened(kind)
    const { url, requests } = await answering('é'.repeat(4_000))
    const steps = Array.from({ length: 50 }, (_, at) => `  - name: s${at}\n    http: { method: GET, url: '${url}' }\n`)
    await call(ANN, 'publishRunbook', { name: 'mine', text: runbook(steps.join('')) })
    const { id } = await start('mine', {})
    const run = await moved(id)
    expect([run.state, requests()]).toEqual(['succeeded', 50])
    expect(run.steps[0]?.output).toMatchObject({ status: 200 })
    expect(run.steps[49]?.output).toMatchObject({ cut: expect.stringContaining('"status":200') as unknown })
  })
})

describe('what a run has room for', () => {
  test('an output that nests as deep as a payload may is cut, and the step is done once', async () => {
    const { engine, call, start, moved } = await opened()
    const payload = `${'['.repeat(99)}${']'.repeat(99)}` as never
    await engine.submit([spec('deep', { payload })])
    const text = runbook(
      '  - name: look\n    operation: getTask\n    with: { id: deep }\n  - name: rest\n    wait: 1s\n',
    )
    await call(ANN, 'publishRunbook', { name: 'mine', text })
    const run = await moved((await start('mine', {})).id)
    expect([run.state, run.steps[0]?.tries]).toEqual(['succeeded', 1])
  })

  test('a question is asked however long its inputs are, and a run that has no room is refused at its start', async () => {
    const { call, start, moved } = await opened()
    const names = Array.from({ length: 30 }, (_, at) => `i${at}`)
    const more = `inputs: { ${names.map((name) => `${name}: { default: x }`).join(', ')} }\n`
    const ask = runbook(`  - name: agree\n    ask: '${'{{ inputs.i0 }}'.repeat(100)}'\n`, more)
    await call(ANN, 'publishRunbook', { name: 'mine', text: ask })
    const long = 'y'.repeat(9_000)
    const run = await moved((await start('mine', { i0: long })).id)
    expect([run.state, run.question?.text.length]).toEqual(['waiting', 2_000])
    await expect(start('mine', Object.fromEntries(names.map((name) => [name, long])))).rejects.toThrow(/at most 100000/)
  })

  test('a reason as long as one may be leaves room for the mark of a step', async () => {
    const { engine, clock, call, start, moved } = await opened()
    await died(engine, dead(1), 'ECONNRESET')
    const steps =
      "  - name: hold\n    operation: pauseLanes\n    with: { action: other }\n  - name: replay\n    redrive: { q: 'action:render', canary: [] }\n"
    await call(ANN, 'publishRunbook', { name: 'mine', text: runbook(steps) })
    const { id } = await start('mine', {}, { reason: 'r'.repeat(1_000) })
    expect((await moved(id, await recovering(engine, clock))).state).toBe('succeeded')
  })
})

test('runs that ended long ago are removed, and none that has not', async () => {
  const { engine, clock, call, start, moved } = await opened()
  await call(ANN, 'publishRunbook', { name: 'mine', text: runbook('  - name: agree\n    ask: Go on?\n') })
  const waiting = await start('mine', {})
  await call(ANN, 'publishRunbook', { name: 'mine', text: runbook('  - name: rest\n    wait: 0s\n') })
  for (let run = 0; run < 25; run++) await moved((await start('mine', {})).id)
  await clock.advance(89 * 86_400_000)
  const young = await moved((await start('mine', {})).id)
  let place = await removeOldRuns(engine, null)
  const left = async (): Promise<readonly string[]> =>
    (await runsIn(engine).list({ limit: 100 })).items.map(({ document }) => document.id)
  expect(await left()).toHaveLength(27)
  await clock.advance(2 * 86_400_000)
  for (let round = 0; round < 3; round++) place = await removeOldRuns(engine, place)
  expect(await left()).toEqual([waiting.id, young.id])
})

describe('where a request of a step goes', () => {
  const text = (url: string) =>
    runbook(
      `  - name: post\n    http: { url: '${url}', headers: { authorization: Bearer x } }\n`,
      'inputs: { it: {} }\n',
    )

  test('an input is one step of a path, or one value of a query, whatever it holds', async () => {
    const { call, start, moved } = await opened()
    const asked: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(request.url)
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const went = async (url: string, it: string): Promise<string> => {
      await call(ANN, 'publishRunbook', { name: 'mine', text: text(url) })
      return (await moved((await start('mine', { it })).id)).state
    }
    expect(await went(`${home}/a/{{ inputs.it }}/ack?by={{ inputs.it }}`, '1/../../keys?all=1&x=#')).toBe('succeeded')
    expect(asked).toEqual(['/a/1%2F..%2F..%2Fkeys%3Fall%3D1%26x%3D%23/ack?by=1%2F..%2F..%2Fkeys%3Fall%3D1%26x%3D%23'])
    expect(await went(`${home}/a/{{ inputs.it }}/ack`, '..')).toBe('halted')
    expect(await went(`${home}/a/{{ inputs.it }}`, '%2e.')).toBe('succeeded')
    expect(asked.slice(1)).toEqual(['/a/%252e.'])
    // An address may be given whole, or as what it begins with.
    expect(await went('{{ inputs.it }}', `${home}/b?c=d`)).toBe('succeeded')
    expect(await went('{{ inputs.it }}/b', home)).toBe('succeeded')
    expect(asked.slice(2)).toEqual(['/b?c=d', '/b'])
  })

  test('a header that says where a request ends or goes is refused', async () => {
    const { call } = await opened()
    const publish = (header: string): Promise<unknown> => {
      const step = runbook(`  - name: post\n    http: { url: 'https://x.example.com', headers: { ${header}: x } }\n`)
      return call(ANN, 'publishRunbook', { name: 'mine', text: step })
    }
    await expect(publish('Content-Length')).rejects.toThrow(/made for each request/)
    await expect(publish('Host')).rejects.toThrow(/made for each request/)
    await publish('authorization')
  })
})

describe('what a run must not wait for', () => {
  test('a script that leaves a process behind with its output ends all the same', async () => {
    const folder = folderWith('leave.sh', 'setsid sleep 20 & echo left')
    const { clock, call, runner, start, shown, signal } = await opened('sqlite', folder)
    await call(ANN, 'publishRunbook', { name: 'mine', text: runbook('  - name: it\n    script: { file: leave.sh }\n') })
    const { id } = await start('mine', {})
    let isOver = false
    void runner()
      .round(signal)
      .then(() => {
        isOver = true
      })
    for (let turn = 0; turn < 2_000 && !isOver; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      await clock.advance(50)
    }
    expect(isOver).toBe(true)
    expect((await shown(id)).steps[0]).toMatchObject({ state: 'done', output: { output: 'left\n' } })
  })

  test('a run whose step takes long holds up no other run', async () => {
    const { engine, context, call } = await storeWithCaller('sqlite')
    const stuck = Promise.withResolvers<void>()
    const hands = {
      ...createRunbookHands({ context }),
      http: async () => {
        await stuck.promise
        return { status: 200, body: '' }
      },
    }
    const service = createRunbooks({ engine, hands, intervalMs: 5 })
    await service.start()
    onTestFinished(async () => {
      stuck.resolve()
      await service.stop()
    })
    const text = runbook("  - name: post\n    http: { url: 'http://127.0.0.1:9/' }\n")
    await call(ANN, 'publishRunbook', { name: 'mine', text })
    const other = runbook('  - name: hold\n    operation: pauseLanes\n    with: { action: other }\n').replace(
      'mine',
      'other',
    )
    await call(ANN, 'publishRunbook', { name: 'other', text: other })
    const first: { readonly id: string } = await call(ANN, 'startRunbook', { name: 'mine', reason: 'drill' })
    const stateOf = async (id: string) => (await runsIn(engine).get(id))?.document
    await expect.poll(async () => (await stateOf(first.id))?.steps[0]?.state).toBe('running')
    const second: { readonly id: string } = await call(ANN, 'startRunbook', { name: 'other', reason: 'drill' })
    await expect.poll(async () => (await stateOf(second.id))?.state).toBe('succeeded')
    expect((await stateOf(first.id))?.state).toBe('running')
  })

  test('a step is left out if what its condition names was never given', async () => {
    const { call, start, moved, errors } = await opened()
    const url = await receiver(() => undefined)
    const steps = `  - name: post\n    http: { url: '${url}' }\n  - name: more\n    if: '{{ steps.post.output.nothing }}'\n    wait: 1s\n`
    await call(ANN, 'publishRunbook', { name: 'mine', text: runbook(steps) })
    const run = await moved((await start('mine', {})).id)
    expect([run.state, run.steps.map(({ state }) => state), errors]).toEqual(['succeeded', ['done', 'skipped'], []])
  })
})

describe('who a run listens to', () => {
  test('a redrive of a tenant is not taken for that of a step, whatever its reason says', async () => {
    const { engine, clock, call, start, moved, answer } = await opened()
    await died(engine, dead(3), 'ECONNRESET')
    const inputs = { fingerprint: await fingerprintOf(engine) }
    const { id } = await start('replay-after-outage', inputs)
    const steps = (await moved(id)).steps.map(({ name }) => name)
    for (const step of steps) {
      const reason = `mine (runbook replay-after-outage, step ${step}, run ${id})`
      await call(ACME, 'createRedrive', { all: true, reason, start: true, canary: [] })
    }
    await answer(id, 'yes')
    const run = await moved(id, await recovering(engine, clock))
    expect([run.state, (await engine.counts()).dead]).toEqual(['succeeded', 0])
  })

  test('who goes on with a run needs the right that its runbook asks for; anybody may stop it', async () => {
    const { call, start, moved } = await opened()
    const text = runbook('  - name: agree\n    ask: Go on?\n', 'right: configure\n')
    await call(ANN, 'publishRunbook', { name: 'mine', text })
    const { id } = await start('mine', {})
    await moved(id)
    const yes = { id, answer: 'yes' }
    await expect(call(OPERATOR, 'answerRunbookRun', yes)).rejects.toThrow(/needs the scope 'configure'/)
    await call(OPERATOR, 'answerRunbookRun', { id, answer: 'no' })
    await expect(call(OPERATOR, 'resumeRunbookRun', { id })).rejects.toThrow(/needs the scope 'configure'/)
    await call(OPERATOR, 'abortRunbookRun', { id })
    expect((await moved(id)).state).toBe('aborted')
  })

  test('secrets in the text of a runbook are shown only to who could have written them', async () => {
    const { call } = await storeWithCaller('sqlite', undefined, { redaction: createRedactor() })
    const step =
      "  - name: post\n    http: { url: 'https://x.example.com/', headers: { authorization: 'Bearer abcdef0123456789abcdef' } }\n"
    await call(ANN, 'publishRunbook', { name: 'mine', text: runbook(step) })
    const textFor = async (caller: Caller) =>
      ((await call(caller, 'getRunbook', { name: 'mine' })) as { readonly text: string }).text
    expect(await textFor(ANN)).toContain('abcdef0123456789abcdef')
    expect(await textFor(OPERATOR)).not.toContain('abcdef0123456789abcdef')
  })
})

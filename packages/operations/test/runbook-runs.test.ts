// Runs of runbooks: guards, questions, aborts, dry runs and what is in doubt after a crash; scripts; and what a runbook may not do.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Runner, type RunPoint, runsIn } from '@reprise/orchestrator'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS } from '../src/table.ts'
import { contextOn, stopRedis } from './events/fixture.ts'
import { dead, fingerprintOf, opened, type Run, receiver } from './runbook-fixture.ts'
import { ACME, ANN, died } from './store-with-caller.ts'

afterAll(stopRedis)

const VIEWER: Caller = { ...ANN, kind: 'token', actor: 'token:viewer', scopes: new Set(['read', 'operate']) }

class Death extends Error {}

const TWO_STEPS = (url: string, repeat = '') => `
name: two-steps
title: Two steps
steps:
  - name: hold
    operation: pauseLanes
    with: { action: render }
    undo: { operation: resumeLanes, with: { action: render } }
  - name: post
    http: { url: '${url}' }
${repeat}
`

describe('runs of runbooks', () => {
  /** A run whose process dies at a point of its second step, and that another one has found. */
  async function left(point: RunPoint) {
    const { clock, call, runner, moved, start, answer, signal, errors } = await opened()
    let posts = 0
    const url = await receiver(() => posts++)
    await call(ANN, 'publishRunbook', { name: 'two-steps', text: TWO_STEPS(url) })
    const { id } = await start('two-steps', {})
    const mortal = runner((at, step) => {
      if (at === point && step === 'post') throw new Death()
    })
    await mortal.round(signal)
    expect(errors).toHaveLength(1)
    await clock.advance(10_001)
    return {
      run: await moved(id),
      answer: (text: string) => answer(id, text),
      goOn: () => moved(id),
      posts: () => posts,
    }
  }

  test.each([
    ['begun', 0, 'again'],
    ['acted', 1, 'happened'],
  ] as const)(
    'a process that dies when a step is %s: a person is asked, and nothing is done twice',
    async (point, done, said) => {
      const { run, answer, goOn, posts } = await left(point)
      expect([run.state, run.question?.kind, posts()]).toEqual(['waiting', 'doubt', done])
      await expect(answer('yes')).rejects.toThrow(/happened or again/)
      await answer(said)
      expect([(await goOn()).state, posts()]).toEqual(['succeeded', 1])
    },
  )

  test('a process that dies when a step is written down as done: another goes on behind it', async () => {
    const { run, posts } = await left('ended')
    expect([run.state, posts()]).toEqual(['succeeded', 1])
  })

  test('of two runners one does each step, and a run that is being done is not in doubt', async () => {
    const { call, runner, start, shown, signal } = await opened()
    let posts = 0
    const url = await receiver(() => posts++)
    await call(ANN, 'publishRunbook', { name: 'two-steps', text: TWO_STEPS(url) })
    const { id } = await start('two-steps', {})
    await Promise.all([runner().round(signal), runner().round(signal), runner().round(signal)])
    expect([(await shown(id)).state, posts]).toEqual(['succeeded', 1])
  })

  test('a failed step halts; resume tries it again; abort takes back what was done', async () => {
    const { engine, call, moved, start } = await opened()
    await call(ANN, 'publishRunbook', { name: 'two-steps', text: TWO_STEPS('http://127.0.0.1:9/') })
    const { id } = await start('two-steps', {})
    expect(await moved(id)).toMatchObject({ state: 'halted', steps: [{ state: 'done' }, { state: 'failed' }] })
    await call(ANN, 'resumeRunbookRun', { id })
    expect(await moved(id)).toMatchObject({ state: 'halted', steps: [{ tries: 1 }, { tries: 2 }] })
    expect((await engine.holds({ limit: 10 })).items).toHaveLength(1)
    await call(ANN, 'abortRunbookRun', { id })
    expect(await moved(id)).toMatchObject({ state: 'aborted', steps: [{ state: 'undone' }, { state: 'failed' }] })
    expect((await engine.holds({ limit: 10 })).items).toEqual([])
    await expect(call(ANN, 'resumeRunbookRun', { id })).rejects.toThrow(/only one that has halted/)
  })

  test('a count that comes in parts is whole: a check is not met by its first part, and a person is asked about all', async () => {
    const { engine, clock, call, hands, start, shown, errors, signal } = await opened()
    const text = `
name: counts
title: Counts
steps:
  - { name: found, operation: countTasks, with: { q: 'code:POISON', by: tenant } }
  - { name: clean, check: { operation: countTasks, with: { q: 'code:POISON' }, path: count, equals: 0 } }
`
    await call(ANN, 'publishRunbook', { name: 'counts', text })
    const parts = { '': 0, a: 3, b: 20_000 } as const
    const next = { '': 'a', a: 'b', b: null } as const
    const inParts: typeof hands = {
      ...hands,
      async operation(run, name, input, asked) {
        if (name !== 'countTasks') return hands.operation(run, name, input, asked)
        const at = (input.cursor ?? '') as keyof typeof parts
        return {
          count: parts[at],
          values: parts[at] === 0 ? [] : [{ value: 'acme', count: parts[at] }],
          next: next[at],
        }
      },
    }
    const runner = new Runner(
      { engine, hands: inParts, leaseMs: 10_000 },
      { clock, onError: (error) => errors.push(error) },
    )
    const { id } = await start('counts', {})
    await runner.round(signal)
    await vi.waitFor(async () => expect((await shown(id)).state).toBe('halted'))
    const [found, clean] = (await shown(id)).steps
    expect(found?.output).toEqual({ count: 20_003, values: [{ value: 'acme', count: 20_003 }], next: null })
    expect(clean).toMatchObject({ state: 'failed', error: 'countTasks count: it is 20003, it must be 0.' })
    expect(errors).toEqual([])
  })

  test('who asks for approval is named, also if it is a token; what is not there is said to be not there', async () => {
    const { call, moved } = await opened()
    const text = `
name: guarded
title: Guarded
approval: true
steps:
  - { name: there, check: { operation: getFailureGroup, with: { fingerprint: none }, path: count, at_least: 1 } }
`
    await call(ANN, 'publishRunbook', { name: 'guarded', text })
    const asked = (await call(VIEWER, 'startRunbook', { name: 'guarded', inputs: {}, reason: 'drill' })) as Run
    expect(asked.question?.text).toBe("token 'viewer' wants to run 'Guarded': drill")
    await call(ANN, 'answerRunbookRun', { id: asked.id, answer: 'yes' })
    expect((await moved(asked.id)).steps[0]?.error).toBe(
      'getFailureGroup count: nothing is there, it must be at least 1.',
    )
  })

  test('the beginning of a run is told once, though an orchestrator takes it as soon as it is there', async () => {
    const { engine, clock, call, runner, signal } = await opened()
    const text = 'name: one\ntitle: One\nsteps:\n  - { name: look, operation: listWorkers, with: {} }\n'
    await call(ANN, 'publishRunbook', { name: 'one', text })
    // An orchestrator looks for runs right before the entry of the beginning is written.
    const eager: typeof engine = {
      ...engine,
      journal: {
        ...engine.journal,
        async append(entries) {
          if (entries.some(({ type }) => type === 'runbook.started')) await runner().round(signal)
          return engine.journal.append(entries)
        },
      },
    }
    const context = await contextOn(eager, { clock })
    const input = { name: 'one', inputs: {}, reason: 'drill' }
    await perform(context, ANN, ['startRunbook', ALL_OPERATIONS.startRunbook], input, signal)
    await runner().round(signal)
    const { entries } = await engine.journal.read({ limit: 100 })
    expect(entries.map(({ type }) => type).filter((type) => type.startsWith('runbook.'))).toEqual([
      'runbook.published',
      'runbook.started',
      'runbook.step',
      'runbook.ended',
    ])
  })

  test('a dry run looks, says what it would do, and changes nothing', async () => {
    const { engine, moved, start } = await opened()
    await died(engine, dead(2), 'ECONNRESET')
    const { id } = await start('replay-after-outage', { fingerprint: await fingerprintOf(engine) }, { dryRun: true })
    const run = await moved(id)
    expect(run.state).toBe('succeeded')
    expect(run.steps.map(({ output }) => output)).toMatchObject([
      { value: 2 },
      { would: expect.stringContaining('ask') as unknown },
      { would: 'redrive' },
      { value: 2 },
    ])
    expect((await engine.counts()).dead).toBe(2)
    const quarantine = await start('poison-pill-quarantine', { action: 'render', query: 'code:X' }, { dryRun: true })
    expect((await moved(quarantine.id)).state).toBe('succeeded')
    expect((await engine.holds({ limit: 10 })).items).toEqual([])
  })

  test('scripts run only from the folder that the configuration names: bounded, without our environment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-scripts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const script = (name: string, text: string): void => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    script('hello.sh', 'echo "hello $1, $REPRISE_STEP, [$REPRISE_SECRET_TEST]"; env | wc -l')
    script('slow.sh', 'sleep 60')
    script('loud.sh', 'yes | head -c 1000000')
    process.env.REPRISE_SECRET_TEST = 'secret'
    onTestFinished(() => void delete process.env.REPRISE_SECRET_TEST)
    const text = (file: string) =>
      `name: scripted\ntitle: Scripted\nsteps:\n  - name: it\n    script: { file: ${file}, args: [you], timeout: 200ms }\n`
    const outcome = async (file: string, scripts?: string) => {
      const { clock, call, runner, start, shown, signal } = await opened('sqlite', scripts)
      await call(ANN, 'publishRunbook', { name: 'scripted', text: text(file) })
      const { id } = await start('scripted', {})
      const round = runner().round(signal)
      let isOver = false
      void round.then(() => {
        isOver = true
      })
      // Its time passes while it runs.
      while (file === 'slow.sh' && !isOver) {
        await new Promise((resolve) => setImmediate(resolve))
        await clock.advance(50)
      }
      await round
      return (await shown(id)).steps[0]
    }
    expect((await outcome('hello.sh', folder))?.output).toMatchObject({
      output: expect.stringContaining('hello you, it, []') as unknown,
    })
    expect((await outcome('hello.sh'))?.error).toMatch(/Scripts are switched off/)
    expect((await outcome('../../bin/ls', folder))?.error).toMatch(/not in the folder|ENOENT/)
    expect((await outcome('slow.sh', folder))?.error).toMatch(/took longer than 200 ms/)
    expect(JSON.stringify((await outcome('loud.sh', folder))?.output).length).toBeLessThan(10_000)
  })

  test('who may do what: rights, tenants, private addresses, operations that steps may not call, inputs', async () => {
    const { call, start, moved } = await opened()
    const publish = (text: string, caller: Caller = ANN): Promise<unknown> =>
      call(caller, 'publishRunbook', { name: 'mine', text })
    const steps = (step: string, more = '') => `name: mine\ntitle: Mine\n${more}steps:\n  - name: it\n    ${step}\n`
    await expect(publish(steps('wait: 1s'), VIEWER)).rejects.toThrow(/configure/)
    await expect(call(ACME, 'listRunbooks', {})).rejects.toThrow(/all tenants/)
    await expect(publish(steps('operation: createToken'))).rejects.toThrow(/can not call 'createToken'/)
    await expect(publish(steps('operation: startRunbook'))).rejects.toThrow(/can not call/)
    await expect(publish(steps('operation: nonsense'))).rejects.toThrow(/no operation 'nonsense'/)
    await expect(publish(steps('wait: 1s\n    ask: what?'))).rejects.toThrow(/exactly one of/)
    await expect(publish(steps('ask: "{{ inputs.nothing }}"'))).rejects.toThrow(/Nothing is known as 'inputs.nothing'/)
    await expect(publish(steps('wait: 1s\n    undo: { operation: addNote }'))).rejects.toThrow(/safe to repeat/)
    await expect(publish(steps('wait: 1s').replace('mine', 'other'))).rejects.toThrow(/not 'mine'/)
    await publish(steps('http: { url: "http://169.254.169.254/latest/meta-data" }'))
    const { id } = await start('mine', {})
    expect((await moved(id)).steps[0]?.error).toMatch(/not a public one/)
    await publish(
      steps(
        'wait: 1s',
        'right: configure\ninputs: { count: { type: number, max: 3 }, how: { choices: [a, b], default: a } }\n',
      ),
    )
    await expect(call(VIEWER, 'startRunbook', { name: 'mine', reason: 'x', inputs: { count: 1 } })).rejects.toThrow(
      /needs the scope 'configure'/,
    )
    await expect(start('mine', {})).rejects.toThrow(/'count' is needed/)
    await expect(start('mine', { count: 4 })).rejects.toThrow(/from any to 3/)
    await expect(start('mine', { count: 1, how: 'c' })).rejects.toThrow(/one of a, b/)
    await expect(start('mine', { count: 1, x: 1 })).rejects.toThrow(/no input 'x'/)
    expect(await start('mine', { count: 1 })).toMatchObject({ version: 2, inputs: { count: 1, how: 'a' } })
    await expect(start('nothing', {})).rejects.toThrow(/no runbook 'nothing'/)
  })

  test('the entry of a step is told though its process dies before it', async () => {
    const { engine, clock, start, runner, signal } = await opened()
    const { id } = await start('stuck-worker-drain', { worker: 'nobody' })
    const runs = runsIn(engine)
    const stored = await runs.get(id)
    if (stored === null) throw new Error('It was started.')
    const entry = { type: 'runbook.step', taskId: null, attempt: null, actor: 'a', reason: 'left', data: {} } as const
    await runs.update({ ...stored.document, state: 'halted', untold: [entry] }, stored.version)
    await clock.advance(11_000)
    await runner().round(signal)
    const { entries } = await engine.journal.read({ limit: 100 })
    expect(entries.filter(({ reason }) => reason === 'left')).toHaveLength(1)
  })
})

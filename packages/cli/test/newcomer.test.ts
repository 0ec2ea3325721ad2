// What somebody runs into who uses the command line for the first time: words that say what is meant, questions before
// everything is held, nothing on standard output that is no result, and where a decision came from.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishActions } from '@reprise/core'
import { createWorker, defineAction, PermanentError, silentLogger } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GREET, registered, SLOW, seeded, serverAndStore, WAYS } from './server-and-store.ts'
import { shell } from './shell.ts'

const THREE = 'policies:\n  - name: three\n    retries: 3\n    backoff: { kind: fixed, delay: 1s }\n'
const ONE = 'policies:\n  - name: one\n    retries: 1\n    backoff: { kind: fixed, delay: 1s }\n'

const refuse = defineAction({
  name: 'refuse',
  run: () => {
    throw new PermanentError('no address')
  },
})

const giveUp = defineAction({
  name: 'give.up',
  retry: { max: 1, backoff: { kind: 'fixed', delay: 1 } },
  run: () => {
    throw new Error('not today')
  },
})

const sums = defineAction({ name: 'sum.build', run: () => null })

describe.each(WAYS)('D6: over %s', (way) => {
  test('policy simulate decides by what is in force there, and says so', async () => {
    const here = await serverAndStore({ files: { 'one.yaml': ONE, 'three.yaml': THREE } })
    const none = await here.over(way, 'policy', 'simulate', 'a', '--status', '503')
    expect(none.stdout).toMatch(/^By no policy: none is in force at (http:|sqlite:)/m)
    await here.over(way, 'policy', 'publish', 'one.yaml')
    const inForce = await here.over(way, 'policy', 'simulate', 'a', '--status', '503')
    expect(inForce).toMatchObject({ exitCode: 0, stderr: '' })
    expect(inForce.stdout).toMatch(/^By version 1, in force at (http:\/\/127|sqlite:\/).*$/m)
    expect(inForce.stdout).toMatch(/^ +2 .* one .*dead/m)
    const json = JSON.parse((await here.over(way, 'policy', 'simulate', 'a', '--lost', '-o', 'json')).stdout) as object
    expect(json).toMatchObject({ policies: null, version: 1, action: 'a' })
    const file = await here.over(way, 'policy', 'simulate', 'a', '--status', '503', '--policies', 'three.yaml')
    expect(file.stdout).toMatch(/^By the file .*three\.yaml, tried at (http:|sqlite:).*$/m)
    expect(file.stdout).toMatch(/^ +4 .* three .*dead/m)
  })

  test('lanes pause --all and limit --all hold everything, and are asked about', async () => {
    const here = await serverAndStore()
    for (const argv of [
      ['pause', '--all'],
      ['limit', '0', '--all'],
    ]) {
      const { exitCode, stdout, stderr } = await here.over(way, 'lanes', ...argv)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain('Add --yes')
      expect((await here.over(way, 'lanes', ...argv, '--yes')).exitCode).toBe(0)
    }
    expect((await here.over(way, 'lanes', 'resume', '--all')).stdout).toContain('No longer held')
  })

  test('redrive names what was given, and knows when there is no such group', async () => {
    const here = await serverAndStore()
    await seeded(here.engine)
    const { items } = await here.engine.failureGroups({ limit: 1 })
    const fingerprint = items[0]?.fingerprint ?? ''
    const asked = await here.over(way, 'redrive', '--fingerprint', fingerprint)
    expect(asked.stderr).toContain(`Redrive 2 tasks (failure group ${fingerprint})?`)
    const both = await here.over(way, 'redrive', '--fingerprint', fingerprint, '--tenant', 'acme')
    expect(both.stderr).toContain(`Redrive 1 task (tenant acme, failure group ${fingerprint})?`)
    for (const verb of ['redrive', 'discard']) {
      const unknown = await here.over(way, verb, '--fingerprint', '0000000000000000', '--yes')
      expect(unknown).toMatchObject({ exitCode: 3, stdout: '' })
      expect(unknown.stderr).toContain("There is no failure group '0000000000000000'")
    }
    const elsewhere = await here.over(way, 'redrive', '--fingerprint', fingerprint, '--tenant', 'nobody')
    expect(elsewhere).toMatchObject({ exitCode: 0, stdout: '0 tasks sent back to work.\n' })
  })

  test('submit --wait writes nothing but a result, and its hints can be typed', async () => {
    const here = await serverAndStore()
    const worker = await createWorker({ engine: here.engine, actions: [refuse, giveUp], log: silentLogger })
    onTestFinished(() => worker.stop())
    const failed = await here.over(way, 'submit', 'refuse', '--id', 'r1', '--wait', '60s')
    expect(failed).toMatchObject({ exitCode: 6, stdout: '' })
    expect(failed.stderr).toContain('code: REPRISE_TASK_FAILED')
    expect(failed.stderr).toContain("'reprise explain r1'")
    expect(failed.stderr).toContain("'reprise retry r1'")
    expect(failed.stderr).not.toContain('<task>')
    const usedUp = await here.over(way, 'submit', 'give.up', '--id', 'r2', '--wait', '60s')
    expect(usedUp.stderr).toContain("'reprise redrive r2'")
    expect(usedUp.stderr).not.toContain('reprise retry')
    // The ceiling holds, whatever is asked for (A6).
    const refused = await here.over(way, 'retry', 'r2', '--max-retries', '9')
    expect(refused.exitCode).toBe(5)
    expect(refused.stderr).toMatch(
      /REPRISE_BUDGET_EXHAUSTED\n {2}hint: 'reprise redrive <task>' gives it a fresh budget/,
    )
    const late = await here.over(way, 'submit', 'nosuch.action', '--id', 'n1', '--wait', '20ms', '-q')
    expect(late).toMatchObject({ exitCode: 7, stdout: '' })
    expect(late.stderr).toContain('code: REPRISE_TIMED_OUT')
    expect(late.stderr).toContain("No worker in pool 'default' runs action 'nosuch.action'")
    expect(late.stderr).toContain("'reprise explain n1'")
  })

  test('submit says if nobody takes the action, unless it is to be quiet', async () => {
    const here = await serverAndStore({ files: { 'tasks.ndjson': '{"action":"a"}\n{"action":"b"}\n{"action":"a"}\n' } })
    const alone = await here.over(way, 'submit', 'nosuch.action', '--id', 'n1')
    expect(alone).toMatchObject({ exitCode: 0, stdout: 'n1\n' })
    expect(alone.stderr).toContain("No worker takes the action 'nosuch.action' in the pool 'default' now")
    expect(await here.over(way, 'submit', 'nosuch.action', '-q')).toMatchObject({ exitCode: 0, stderr: '' })
    const many = await here.over(way, 'submit', '--bulk', 'tasks.ndjson')
    expect(many.stderr.match(/No worker takes the action '\w+'/g)).toHaveLength(2)
    const near = await createWorker({
      engine: here.engine,
      actions: [sums],
      id: 'w0',
      log: silentLogger,
    })
    expect((await here.over(way, 'submit', 'sum.buidl')).stderr).toContain("until one does. Did you mean 'sum.build'?")
    await near.stop()
    await registered(here.engine, 'w1', 'default')
    expect(await here.over(way, 'submit', GREET)).toMatchObject({ exitCode: 0, stderr: '' })
    const elsewhere = await here.over(way, 'submit', GREET, '--pool', 'gpu')
    expect(elsewhere.stderr).toContain("in the pool 'gpu'")
  })

  test('workers drain says what is served by nobody else', async () => {
    const here = await serverAndStore()
    await registered(here.engine, 'w1', 'default')
    await registered(here.engine, 'w2', 'default')
    await registered(here.engine, 'g1', 'gpu')
    expect(await here.over(way, 'workers', 'drain', 'w1')).toMatchObject({ exitCode: 0, stderr: '' })
    const last = await here.over(way, 'workers', 'drain', 'g1', '-o', 'json')
    expect(last).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('true') as string })
    expect(last.stderr).toContain("Nothing else serves the pool 'gpu'")
    expect(last.stderr).toContain('start the worker again')
    expect((await here.over(way, 'workers', 'drain', 'g1', '-q')).stderr).toBe('')
  })

  test('policy publish tells problems with the name of the file', async () => {
    const here = await serverAndStore({ files: { 'mine.yaml': 'policies:\n  - name: a\n    retries: many\n' } })
    for (const more of [[], ['--dry-run']]) {
      const { exitCode, stderr } = await here.over(way, 'policy', 'publish', 'mine.yaml', ...more)
      expect(exitCode).toBe(2)
      expect(stderr).toContain('mine.yaml has 1 problem')
      expect(stderr).toContain('mine.yaml:3:14: policies[0].retries')
      expect(stderr).not.toMatch(/(?:^|\s)policies:3/)
    }
  })

  test('B12: export writes no more than asked for', async () => {
    const here = await serverAndStore()
    await seeded(here.engine)
    const lines = async (...argv: string[]) => (await here.over(way, 'export', ...argv)).stdout.split('\n').length - 1
    expect([await lines('-n', '2'), await lines('--limit', '1'), await lines()]).toEqual([2, 1, 7])
    expect(await here.over(way, 'export', '-n', '0')).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('submit --bulk says what is wrong with a line in plain words', async () => {
    const text = [
      '{"payload":1}',
      '{"action":7}',
      '{"action":"a","nme":1}',
      '{"action":"a","labels":"x"}',
      '{"action":"a","priority":"9"}',
    ].join('\n')
    const { over } = await serverAndStore({ files: { 'wrong.ndjson': text } })
    const { exitCode, stderr } = await over(way, 'submit', '--bulk', 'wrong.ndjson')
    expect(exitCode).toBe(2)
    expect(stderr.split('\n').filter((line) => line.startsWith('  line'))).toEqual([
      '  line 1 names no action',
      '  line 2: action must be a text, not a number',
      "  line 3: there is no field 'nme'",
      '  line 4: labels must be an object, not a text',
      '  line 5: priority must be a number, not a text',
    ])
  })
})

test('D6: submit with a token that may not look is as good', async () => {
  const here = await serverAndStore()
  const made = await here.over('http', 'token', 'create', 'shop', '--scope', 'submit')
  const [, url = ''] = await here.there('http')
  const ran = await here.reprise('submit', 'nosuch.action', '--url', url, '--token', made.stdout.trim(), '--id', 'n1')
  expect(ran).toEqual({ exitCode: 0, stdout: 'n1\n', stderr: '' })
})

test('D6: policy simulate on a store takes the settings that the action published', async () => {
  const here = await serverAndStore()
  const twice = defineAction({
    name: 'twice',
    retry: { max: 1, backoff: { kind: 'fixed', delay: '7s' } },
    run: () => null,
  })
  await publishActions(here.engine, [twice])
  const { stdout } = await here.over('store', 'policy', 'simulate', 'twice', '--status', '503')
  expect(stdout).toMatch(/again in 7s/)
})

test('D6: policy simulate without a server or a store decides by the file', async () => {
  const { reprise } = shell({ files: { 'one.yaml': ONE } })
  const { exitCode, stdout } = await reprise('policy', 'simulate', 'a', '--lost', '--policies', 'one.yaml')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^By the file .*one\.yaml\.$/m)
  expect((await reprise('policy', 'simulate', 'a', '--lost')).stdout).toContain('By no policy: none is configured')
})

test('A12: the first token is made straight on the store, and a server takes it', async () => {
  const here = await serverAndStore({ env: { USER: 'ann' } })
  const made = await here.over('store', 'token', 'create', 'me', '--role', 'admin')
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^rpr_\S+\n$/) as string })
  const [, url = ''] = await here.there('http')
  const words = ['--url', url, '--token', made.stdout.trim()]
  expect(await here.reprise('flags', 'set', 'audit-streaming', 'off', ...words)).toMatchObject({ exitCode: 0 })
  const listed = await here.over('store', 'token', 'list', '-o', 'json')
  const [token] = JSON.parse(listed.stdout) as { id: string; createdBy: string; tenants: unknown }[]
  expect(token).toMatchObject({ name: 'me', createdBy: 'cli:ann', tenants: null })
  expect(listed.stdout).not.toContain('digest')
  expect(await here.over('store', 'token', 'create', 'me', '--role', 'admin')).toMatchObject({
    exitCode: 5,
    stdout: '',
  })
  expect(await here.over('store', 'token', 'create', 'x', '--scope', 'all')).toMatchObject({ exitCode: 2, stdout: '' })
  const short = await here.over('store', 'token', 'create', 'w', '--role', 'worker', '--expires', '1d', '-o', 'json')
  expect(JSON.parse(short.stdout)).toMatchObject({ scopes: ['work'], expiresAt: expect.any(Number) as number })
  expect(await here.over('store', 'token', 'revoke', token?.id ?? '')).toMatchObject({ exitCode: 0 })
  expect(await here.over('store', 'token', 'revoke', token?.id ?? '')).toMatchObject({ exitCode: 3, stdout: '' })
  const { entries } = await here.engine.journal.read({ limit: 100 })
  expect(entries).toContainEqual(
    expect.objectContaining({ actor: 'cli:ann', reason: expect.stringContaining('made') as string }),
  )
})

test('D6: help shows what settings are if nobody says anything', async () => {
  const { reprise } = shell()
  const help = (await reprise('core', '--help')).stdout.replaceAll(/\s+/g, ' ')
  expect(help).toContain('(default 7440)')
  expect(help).toContain('(default 127.0.0.1)')
  expect(help).not.toContain('(default )')
  const main = (await reprise('--help')).stdout.replaceAll(/\s+/g, ' ')
  expect(main).toContain('(default .reprise)')
  expect(main.match(/--data <folder>/g)).toHaveLength(1)
})

test('D6: the options of every command fill the main help only; the help of a command names them in a line', async () => {
  const { reprise } = shell()
  const help = (await reprise('core', '--help')).stdout.replaceAll(/\s+/g, ' ')
  expect(help).not.toContain('--url <url>')
  expect(help).toContain('Every command also takes -o, --json, --url, --token, --engine, --data, --config, -q')
  expect(help).toContain("see 'reprise --help'")
})

test('D6: --data finds a server that runs in another folder', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  const [, url = '', , token = ''] = await here.there('http')
  mkdirSync(join(here.folder, 'elsewhere'))
  writeFileSync(join(here.folder, 'elsewhere/local.json'), JSON.stringify({ url, token }))
  const { exitCode, stdout } = await here.reprise('list', `action:${SLOW}`, '--data', 'elsewhere', '-o', 'json')
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toHaveLength(2)
  expect((await here.reprise('list')).exitCode).toBe(1)
})

test('D6: examples in help have ids as they are', async () => {
  const { reprise } = shell()
  for (const path of [['token', 'revoke'], ['redrive']]) {
    const { stdout } = await reprise(...path, '--help')
    expect(stdout).toMatch(/(?:revoke|--fingerprint) [0-9a-f]{16}\b/)
    expect(stdout).not.toContain('tok_')
  }
})

// Every command that talks to a server or a store, both ways: its exit code, what it writes for programs against the schemas
// of the table of operations, nothing else on standard output, and what it says to wrong input.

import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { parseQuery } from '@reprise/core'
import { SubmittedLine } from '@reprise/operations'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { COMMANDS } from '../src/commands/all.ts'
import { queryOf } from '../src/tasks/query.ts'
import { changes, FILES, problemsWith, reads, STDIN } from './command-cases.ts'
import { GREET, type Seeded, SLOW, seeded, serverAndStore, WAYS } from './server-and-store.ts'

describe.each(WAYS)('over %s', (way) => {
  test('D6: commands that look: exit codes, JSON by the table of operations, wrong input', async () => {
    const here = await serverAndStore({ files: FILES, stdin: STDIN })
    const tasks = await seeded(here.engine)
    const before = await here.engine.counts()
    const problems: string[] = []
    for (const one of reads(tasks)) problems.push(...problemsWith(one, await here.over(way, ...one.argv)))
    expect(problems).toEqual([])
    expect(await here.engine.counts()).toEqual(before)
  })

  test('D6, A8: commands that change: exit codes, JSON by the table of operations, and the change itself', async () => {
    const here = await serverAndStore({ files: FILES, stdin: STDIN })
    const tasks = await seeded(here.engine)
    const problems: string[] = []
    for (const one of changes(tasks)) problems.push(...problemsWith(one, await here.over(way, ...one.argv)))
    expect(problems).toEqual([])
    const { engine } = here
    const task = async (id: string) => engine.task(id as Seeded['dead'])
    expect(await task('cid')).toMatchObject({ action: GREET, payload: '{"name":"Cid"}' })
    expect(await task('dot')).toMatchObject({ labels: { a: 'b=c', d: 'e' }, priority: 9 })
    expect((await task('e1'))?.state.status).toBe('queued')
    expect((await task(tasks.queued))?.state.status).toBe('cancelled')
    expect((await task(tasks.waiting))?.state.status).toBe('queued')
    expect((await task(tasks.deadToo))?.generation).toBe(2)
    const { entries } = await engine.journal.read({ taskId: tasks.dead, limit: 100 })
    expect(entries).toContainEqual(
      expect.objectContaining({
        type: 'task.retried',
        reason: 'once more',
        actor: way === 'http' ? 'token:admin-test' : `cli:${userInfo().username}`,
      }),
    )
  })

  test('for people, at 80 columns, no line is longer and nothing unsafe gets through', async () => {
    const here = await serverAndStore({ columns: 80 })
    const tasks = await seeded(here.engine)
    for (const argv of [
      ['status'],
      ['list'],
      ['groups'],
      ['workers'],
      ['lanes'],
      ['tenants'],
      ['breakers'],
      ['flags'],
      ['scaling'],
      ['policy', 'templates'],
      ['status', tasks.dead],
      ['status', tasks.waiting],
      ['explain', tasks.dead],
      ['explain', tasks.queued],
      ['groups', tasks.group],
      ['groups', 'cause', tasks.group],
      ['events'],
      ['dlq', '-n', '1'],
      ['ledger'],
      ['audit'],
      ['audit', 'verify'],
      ['series'],
      ['diff', tasks.dead],
      ['lanes', 'holds'],
      ['retry-inspect'],
      ['redrive', 'list'],
      ['redrive', 'plan', '--fingerprint', tasks.group, '--reason', 'it is mended'],
    ]) {
      const { exitCode, stdout, stderr } = await here.over(way, ...argv, '--no-color')
      expect([argv.join(' '), exitCode]).toEqual([argv.join(' '), 0])
      // Beside a bar that is drawn and removed again.
      const lines = `${stdout}${stderr.split('\u001b[K').at(-1)}`
      const [widest = ''] = lines.split('\n').toSorted((one, other) => other.length - one.length)
      expect([argv.join(' '), widest.length <= 80 ? 'fits' : widest]).toEqual([argv.join(' '), 'fits'])
      expect(stdout).not.toContain('\u001b')
    }
    const { stdout } = await here.over(way, 'list', '--no-color')
    const { group: _, ...ids } = tasks
    for (const id of Object.values(ids)) expect(stdout).toContain(id)
    const story = await here.over(way, 'status', tasks.dead, '--no-color')
    expect(story.stdout).toContain('the customer has no address\\u001b[31m')
    expect(story.stdout).toContain(`reprise redrive ${tasks.dead}`)
  })
})

test('every command writes the same for programs through a server and straight on the store', async () => {
  const here = await serverAndStore()
  const tasks = await seeded(here.engine)
  for (const argv of [
    ['status', tasks.dead],
    ['status', tasks.running],
    ['list'],
    ['explain', tasks.queued],
    // A server redacts what looks like a secret.
    ['events', '--type', 'execution.*,lanes.*,breaker.*'],
    ['groups'],
    ['workers'],
    ['workers', 'w1'],
    ['lanes'],
    ['tenants'],
    ['breakers'],
    ['flags'],
    ['policy', 'templates'],
    ['policy', 'list'],
    ['inspect'],
    ['export'],
  ]) {
    const [http, store] = await Promise.all(WAYS.map((way) => here.over(way, ...argv, '-o', 'json')))
    expect([...argv, http?.stdout]).not.toEqual([...argv, ''])
    expect([...argv, store?.stdout]).toEqual([...argv, http?.stdout])
  }
  const overviews = await Promise.all(WAYS.map((way) => here.over(way, 'status', '--json')))
  const [one, other] = overviews.map(({ stdout }) => ({ ...(JSON.parse(stdout) as object), monitoring: null }))
  expect(one).toEqual(other)
})

test('every command that talks to something is tried above', () => {
  const ids: Seeded = {
    succeeded: '',
    dead: '',
    deadToo: '',
    waiting: '',
    parked: '',
    running: '',
    queued: '',
    group: '',
  } as never
  const tried = new Set(
    [...reads(ids), ...changes(ids)].flatMap(({ argv: [one = '', two = ''] }) => [one, `${one} ${two}`]),
  )
  // Those about an outside queue need one: queue.test.ts.
  const isElsewhere = (name: string): boolean => /^(policy (check|simulate)|queue .*)$/.test(name)
  const groups = new Set(['Tasks', 'Operate', 'Policies'])
  const untried = COMMANDS.filter(({ group }) => groups.has(group))
    .map(({ path }) => path.join(' '))
    .filter((name) => !isElsewhere(name) && !tried.has(name))
  expect(untried).toEqual([])
})

test('a file that is submitted is read once for checking and once for submitting, in order', async () => {
  const here = await serverAndStore()
  const lines = Array.from({ length: 1_200 }, (_, index) =>
    JSON.stringify({ action: index % 700 === 0 ? SLOW : GREET, payload: { index }, id: `t${index}` }),
  )
  writeFileSync(join(here.folder, 'many.ndjson'), `${lines.join('\n')}\n`)
  const { exitCode, stdout } = await here.over('http', 'submit', '--bulk', 'many.ndjson', '-o', 'jsonl')
  expect(exitCode).toBe(0)
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => SubmittedLine.parse(JSON.parse(line)))
  expect(results.map(({ line, id }) => `${line} ${id}`)).toEqual(lines.map((_, index) => `${index + 1} t${index}`))
  const again = await here.over('store', 'submit', '--bulk', 'many.ndjson')
  expect(again.stdout).toBe('0 tasks submitted, 1200 were there already.\n')
  const others = lines.slice(0, 8).map((line, index) => (index === 0 ? line : line.replace('"index":', '"other":')))
  writeFileSync(join(here.folder, 'others.ndjson'), others.join('\n'))
  const clash = await here.over('http', 'submit', '--bulk', 'others.ndjson')
  expect(clash).toMatchObject({ exitCode: 5, stdout: '0 tasks submitted, 1 was there already.\n' })
  expect(clash.stderr).toContain('7 not submitted: ')
  expect(clash.stderr).toContain('(t1, t2, t3, t4, t5; -o jsonl names them all)')
})

test('a list that finds nothing shows the query as it was understood', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  const { stderr } = await here.over('store', 'list', 'status:dead', 'code:HTTP_500 or x')
  expect(stderr).toBe('No task matches status:dead code:"HTTP_500 or x"\n')
})

test('a file of mixed actions goes out in full batches', async () => {
  const here = await serverAndStore()
  const actions = [SLOW, GREET, 'invoice.send']
  const lines = Array.from({ length: 1_200 }, (_, index) =>
    JSON.stringify({ action: actions[index % 3], id: `m${index}` }),
  )
  writeFileSync(join(here.folder, 'mixed.ndjson'), lines.join('\n'))
  const fetch = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => fetch.mockRestore())
  const { stdout } = await here.over('http', 'submit', '--bulk', 'mixed.ndjson')
  expect(stdout).toBe('1200 tasks submitted, 0 were there already.\n')
  const calls = fetch.mock.calls.filter(([url]) =>
    (url instanceof Request ? url.url : url.toString()).includes('/tasks/bulk'),
  )
  expect(calls).toHaveLength(3)
  for (const [at, action] of actions.entries()) {
    expect(await here.engine.task(`m${at}` as Seeded['dead'])).toMatchObject({ action })
  }
})

test.each([
  [[], ''],
  [['status:dead age>1h'], 'status:dead age>1h'],
  [['status:dead', 'connection reset'], 'status:dead "connection reset"'],
  [['label:name=a b', 'x'], 'label:"name=a b" x'],
  [['"quoted already"', 'x'], '"quoted already" x'],
  [['a\\b c', 'x'], '"a\\\\b c" x'],
  [['status:dead', 'not code:HTTP_500'], 'status:dead not code:HTTP_500'],
  [['status:dead', '-code:HTTP_500 -code:HTTP_502'], 'status:dead -code:HTTP_500 -code:HTTP_502'],
  [['status:dead', 'action:send invoice'], 'status:dead action:"send invoice"'],
])('the words %j are the query %s', (words, query) => {
  expect(queryOf(words)).toBe(query)
  expect(parseQuery(query).terms.length).toBeLessThanOrEqual(words.join(' ').split(' ').length)
})

describe.each(WAYS)('a negated term over %s', (way) => {
  test.each([
    [['list', 'status:dead', 'not code:HTTP_500']],
    [['list', 'status:dead', '-code:HTTP_500']],
    [['list', '-code:HTTP_500', 'status:dead', '-n', '5']],
  ])('%j is understood, wherever it stands and however it is quoted', async (argv) => {
    const here = await serverAndStore()
    await seeded(here.engine)
    const { exitCode, stdout, stderr } = await here.over(way, '-o', 'json', ...argv)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toHaveLength(2)
    const others = argv.map((word) => word.replace('HTTP_500', 'permanent'))
    expect(JSON.parse((await here.over(way, '-o', 'json', ...others)).stdout)).toEqual([])
  })

  test('after -- is one, and as the value of --query', async () => {
    const here = await serverAndStore()
    await seeded(here.engine)
    const there = await here.there(way)
    const list = await here.reprise('list', ...there, '-o', 'json', '--', 'status:dead', '-code:HTTP_500')
    expect(JSON.parse(list.stdout)).toHaveLength(2)
    const redrive = await here.over(way, 'redrive', '--query', '-code:HTTP_500', '--dry-run')
    expect(redrive.stdout).toContain('Would redrive 2 tasks.')
  })

  test('in quotes of its own is a text, and that is said', async () => {
    const here = await serverAndStore()
    await seeded(here.engine)
    for (const argv of [
      ['list', 'status:dead', '"not code:HTTP_500"'],
      ['list', 'status:dead or code:HTTP_500', 'x'],
      ['export', 'status:dead "-code:HTTP_500"'],
      ['redrive', '--dry-run', '--query', '"not code:HTTP_500"'],
    ]) {
      const { stderr } = await here.over(way, ...argv)
      expect([argv, stderr]).toEqual([argv, expect.stringMatching(/warning: .*code:HTTP_500' is a term|no status/)])
    }
  })
})

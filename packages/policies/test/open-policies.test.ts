// The policies in force: brought in from a file, kept in every version, followed by everybody, and never worse than before.

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, NO_POLICIES, StoreBusyError, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { ConfigurationError, openPolicies, type PoliciesOptions } from '@reprise/policies'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

const NOW = Date.UTC(2030, 0, 1)
const text = (retries: number) => `policies: [{ name: p, retries: ${retries} }]`

let clock: VirtualClock
let engine: Engine
let folder: string
let file: string

beforeEach(async () => {
  clock = new VirtualClock(NOW)
  engine = await openSqliteEngine({ path: ':memory:', clock })
  folder = mkdtempSync(join(tmpdir(), 'reprise-policies-'))
  file = join(folder, 'retry-policies.yaml')
})
afterEach(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Writes the file as it would have been written at this moment of the virtual clock. */
function write(contents: string, at = clock.now()): void {
  writeFileSync(file, contents)
  utimesSync(file, at / 1_000, at / 1_000)
}
const open = (over: Partial<PoliciesOptions> = {}) => openPolicies({ engine, clock, file, ...over })
const follow = () => openPolicies({ engine, clock })
const retriesOf = (policies: { current(): { policies: readonly { retries?: number }[] } }) =>
  policies.current().policies[0]?.retries
/** A change of the file is taken up when it is seen twice. */
async function lookTwice(policies: { look(): Promise<void> }): Promise<void> {
  await policies.look()
  await policies.look()
}

test('B7: an onError that throws ends nothing: the next good file comes into force', async () => {
  write(text(3))
  let told = 0
  const onError = () => {
    told++
    throw new Error('the hook is broken')
  }
  const policies = await open({ onError })
  write('policies: [oops]')
  await lookTwice(policies)
  expect(told).toBe(1)
  expect(retriesOf(policies)).toBe(3)
  write(text(5))
  await lookTwice(policies)
  expect(retriesOf(policies)).toBe(5)
})

test('B7: an onChange that throws does not keep the next look from looking', async () => {
  write(text(3))
  let isBroken = false
  const onError = () => {
    throw new Error('this hook too')
  }
  const onChange = () => {
    if (isBroken) throw new Error('the hook is broken')
  }
  const policies = await open({ onChange, onError })
  isBroken = true
  write(text(4))
  await lookTwice(policies)
  isBroken = false
  write(text(5))
  await lookTwice(policies)
  expect(retriesOf(policies)).toBe(5)
})

describe('B7: at the beginning', () => {
  test('a file becomes the first version', async () => {
    write(text(3))
    const policies = await open()
    expect(policies.current()).toMatchObject({ version: 1, policies: [{ name: 'p', retries: 3 }] })
    expect(policies.version()).toMatchObject({ number: 1, text: text(3), by: `file:${file}`, at: NOW })
    const { entries } = await engine.journal.read()
    expect(entries).toMatchObject([
      {
        type: 'note',
        actor: `file:${file}`,
        reason: 'Version 1 of the policies counts from now on.',
        data: { policies: 1 },
      },
    ])
  })

  test('without a file and with an empty store there are none', async () => {
    const policies = await follow()
    expect(policies.current()).toBe(NO_POLICIES)
    expect(policies.version()).toBeNull()
  })

  test('the same file again is no new version; another text is', async () => {
    write(text(3))
    await open()
    expect((await open()).current().version).toBe(1)
    write(text(4))
    expect((await open()).current().version).toBe(2)
  })

  test('an old file does not undo what was brought in since, unless it was changed since', async () => {
    write(text(3))
    await open()
    await (await follow()).publish(text(4), 'operator:ann')
    const warnings: string[] = []
    const log = {
      debug: () => {},
      info: () => {},
      warn: (message: string) => void warnings.push(message),
      error: () => {},
    }
    const restarted = await open({ log })
    expect([restarted.current().version, retriesOf(restarted)]).toEqual([2, 4])
    expect(warnings.join()).toContain('version 2, brought in by operator:ann, stays in force')
    write(text(3), NOW + 60_000)
    const reverted = await open()
    expect([reverted.current().version, retriesOf(reverted)]).toEqual([3, 3])
  })

  test('a file that is not valid is refused if there is nothing else, and told about if there is', async () => {
    write('policies: 5')
    await expect(open()).rejects.toThrow(ConfigurationError)
    write(text(3))
    await open()
    write('policies: 5')
    const errors: unknown[] = []
    const policies = await open({ onError: (error) => void errors.push(error) })
    expect(retriesOf(policies)).toBe(3)
    expect(errors).toEqual([expect.any(ConfigurationError)])
  })

  test('a missing file is refused likewise', async () => {
    await expect(open()).rejects.toThrow("It can't be read")
  })

  test('an unknown option is refused', async () => {
    await expect(openPolicies({ engine, folder: '.' } as object as PoliciesOptions)).rejects.toThrow("'folder'")
  })
})

describe('B7: while it runs', () => {
  test('a change of the file is taken up once it stays as it is, also within one second and of one size', async () => {
    write(text(3))
    const changes: number[] = []
    const policies = await open({ onChange: ({ version }) => void changes.push(version) })
    write(text(4))
    await policies.look()
    expect(retriesOf(policies)).toBe(3)
    await policies.look()
    expect([policies.current().version, retriesOf(policies)]).toEqual([2, 4])
    expect(changes).toEqual([1, 2])
  })

  test('a file that is just being written is left alone', async () => {
    write(text(3))
    const policies = await open()
    for (const half of ['', 'policies:', 'policies: []']) {
      write(half)
      await policies.look()
    }
    write(text(4))
    await policies.look()
    expect(retriesOf(policies)).toBe(3)
    await policies.look()
    expect(retriesOf(policies)).toBe(4)
  })

  test('going back to what an older version said is a change like any other', async () => {
    write(text(3))
    const policies = await open()
    write(text(4))
    await lookTwice(policies)
    write(text(3), NOW - 60_000)
    await lookTwice(policies)
    expect([policies.current().version, retriesOf(policies)]).toEqual([3, 3])
  })

  test('what is not valid leaves the last good book in force, and is told once', async () => {
    write(text(3))
    const errors: unknown[] = []
    const policies = await open({ onError: (error) => void errors.push(error) })
    const book = policies.current()
    write('policies: [{ name: p, retries: many }]')
    for (let look = 0; look < 5; look++) await policies.look()
    expect(policies.current()).toBe(book)
    expect(errors).toHaveLength(1)
    expect(String(errors[0])).toContain('retry-policies.yaml:1:32: policies[0].retries: This must be a whole number')
    rmSync(file)
    await lookTwice(policies)
    expect(errors).toHaveLength(2)
    write(text(4))
    await lookTwice(policies)
    expect(retriesOf(policies)).toBe(4)
  })

  test('the newest version is followed, whoever brought it in', async () => {
    write(text(3))
    const first = await open()
    const second = await follow()
    expect(retriesOf(second)).toBe(3)
    write(text(4))
    await lookTwice(first)
    await second.publish(text(5), 'operator:ann')
    expect(retriesOf(first)).toBe(4)
    await first.look()
    expect(first.current()).toMatchObject({ version: 3, policies: [{ retries: 5 }] })
    // The file still says what it said: that is no change.
    await lookTwice(first)
    expect(first.current().version).toBe(3)
  })

  test('the service looks every few seconds by its clock, until it is stopped', async () => {
    write(text(3))
    const policies = await open({ poll: '2s' })
    const other = await follow()
    await policies.start()
    await other.publish(text(4), 'operator:ann')
    await clock.advance(2_000)
    // The look goes over the file system, which no virtual clock knows: the next one waits for it.
    await policies.look()
    expect(retriesOf(policies)).toBe(4)
    await policies.stop()
    await other.publish(text(5), 'operator:ann')
    await clock.advance(60_000)
    expect(retriesOf(policies)).toBe(4)
  })

  test('a store that does not answer changes nothing, and is told once', async () => {
    write(text(3))
    let isAway = false
    const collection: Engine['collection'] = (definition) => {
      const real = engine.collection(definition)
      const get: typeof real.get = (id) => (isAway ? Promise.reject(new StoreBusyError('away')) : real.get(id))
      return {
        insert: real.insert.bind(real),
        update: real.update.bind(real),
        remove: real.remove.bind(real),
        list: real.list.bind(real),
        find: real.find.bind(real),
        get,
      }
    }
    const errors: unknown[] = []
    const policies = await open({
      engine: { collection, journal: engine.journal },
      onError: (error) => void errors.push(error),
    })
    isAway = true
    await lookTwice(policies)
    expect(retriesOf(policies)).toBe(3)
    expect(errors).toEqual([expect.any(StoreBusyError)])
    isAway = false
    await (await follow()).publish(text(9), 'operator:ann')
    await policies.look()
    expect(retriesOf(policies)).toBe(9)
  })
})

describe('what goes wrong', () => {
  test('a store that its own process has closed is no trouble: nobody hears of it', async () => {
    const errors: unknown[] = []
    const closing = await openSqliteEngine({ path: ':memory:' })
    const policies = await openPolicies({ engine: closing, clock, onError: (error) => void errors.push(error) })
    await closing.close()
    await policies.look()
    expect(errors).toEqual([])
  })

  test('goes to the warnings of the process, once, if nobody else is to hear of it', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    write(text(3))
    const [untold, told] = [await open(), await open({ onError: () => {} })]
    write('policies: 5')
    for (const policies of [untold, told]) {
      await lookTwice(policies)
      await lookTwice(policies)
    }
    expect(warned).toHaveBeenCalledTimes(1)
    expect(warned).toHaveBeenCalledWith(
      expect.stringContaining('The policies stay as they are (version 1): '),
      'RepriseWarning',
    )
  })

  test.each<[unknown, string]>([
    [{ engine: 'sqlite:./reprise.db' }, 'openPolicies takes an engine that is open, not its address'],
    [{}, 'openPolicies needs an engine'],
    [undefined, 'Expected an object of openPolicies options, not undefined'],
  ])('%o is refused', async (options, message) => {
    await expect(openPolicies(options as never)).rejects.toThrow(message)
  })
})

describe('B7: every version is kept', () => {
  test('by number, with who brought it in', async () => {
    const policies = await follow()
    for (let retries = 1; retries <= 40; retries++) await policies.publish(text(retries), `operator:${retries}`)
    expect(policies.current().version).toBe(40)
    expect(await policies.versions.get(17)).toMatchObject({ number: 17, text: text(17), by: 'operator:17' })
    expect(await policies.versions.get(41)).toBeNull()
    const { items } = await policies.versions.list({ limit: 100 })
    expect(items.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    // Found from nothing, too.
    expect((await follow()).current().version).toBe(40)
  })

  test('one that was stored with old names is read under the new ones, and shown as it was written', async () => {
    await (await follow()).publish(text(3), 'operator:ann')
    const versions = engine.collection<{ id: string; text: string }>({ name: 'policies', indexes: {} })
    const [stored] = (await versions.list()).items
    if (stored === undefined) throw new Error('Nothing was published.')
    const breaker = '{ failures_min: 3, open_max: 9m, "ramp_max": 7 }'
    const old = `policies: [{ name: p, losses_max: 2, breaker: ${breaker} }]`
    await versions.update({ ...stored.document, text: old }, stored.version)
    const policies = await follow()
    expect(policies.current()).toMatchObject({
      version: 1,
      policies: [{ maxLosses: 2, breaker: { minFailures: 3, maxOpenMs: 540_000, maxRamp: 7 } }],
    })
    expect(policies.version()?.text).toBe(old)
    await expect(policies.publish(old, 'operator:ann')).rejects.toThrow("It is called 'max_losses'")
  })

  test('of many at once each gets a number of its own', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => follow()))
    const published = await Promise.all(all.map((policies, index) => policies.publish(text(index), 'operator:ann')))
    expect(published.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('publishing what is in force already changes nothing', async () => {
    const policies = await follow()
    const first = await policies.publish(text(3), 'operator:ann')
    expect(await policies.publish(text(3), 'operator:bob')).toEqual(first)
  })

  test('what is not valid is no version', async () => {
    const policies = await follow()
    await expect(policies.publish('policies: 5', 'operator:ann')).rejects.toThrow(ConfigurationError)
    expect(await policies.versions.get(1)).toBeNull()
  })

  test('B14: a policy that can’t make its SLA is pointed out when it comes into force', async () => {
    const warnings: string[] = []
    const log = {
      debug: () => {},
      info: () => {},
      warn: (message: string) => void warnings.push(message),
      error: () => {},
    }
    write('policies: [{ name: tight, template: patient, sla: 1m }]')
    await open({ log })
    expect(warnings.join()).toContain("Policy 'tight' can't make its SLA of 1m")
  })
})

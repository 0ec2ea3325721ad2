import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { succeeded, VirtualClock } from '@reprise/core'
import { openSqliteEngine, SCHEMA_VERSION } from '@reprise/engine-sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { claimer, spec, specs, storeProcess, temporaryFolder } from './fixture.ts'

// Filling a disk takes the right to mount one, as root has on a Linux build machine.
const canMount = mayMount()

describe('the file', () => {
  it('is synced at every commit by default, and says so', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const durable = await openSqliteEngine({ path })
    expect(durable.info.durability).toContain('synced')
    await durable.close()
    const fast = await openSqliteEngine({ path, durability: 'fast' })
    expect(fast.info.durability).toContain('not a loss of power')
    await fast.close()
  })

  it('keeps everything when it is closed and opened again', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const first = await openSqliteEngine({ path })
    await first.submit([spec('one', { labels: { team: 'ops' }, delayMs: 60_000 })])
    const before = await first.task(spec('one').id)
    await first.close()
    const second = await openSqliteEngine({ path })
    expect(await second.task(spec('one').id)).toEqual(before)
    await second.close()
  })

  it('that a newer version wrote is refused, and left alone', async () => {
    const path = join(temporaryFolder(), 'store.db')
    await (await openSqliteEngine({ path })).close()
    const db = new DatabaseSync(path)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
    db.close()
    const before = readFileSync(path)
    await expect(openSqliteEngine({ path })).rejects.toThrow(`The store has schema ${SCHEMA_VERSION + 1}`)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('that is no database is refused with a clear error', async () => {
    const path = join(temporaryFolder(), 'notes.txt')
    writeFileSync(path, 'This is not a database, it is a text of some length.'.repeat(100))
    await expect(openSqliteEngine({ path })).rejects.toThrow('file is not a database')
  })

  it('can be copied while it is in use', async () => {
    const folder = temporaryFolder()
    const engine = await openSqliteEngine({ path: join(folder, 'store.db') })
    await engine.submit(specs(500))
    const copying = engine.backup(join(folder, 'copy.db'))
    await engine.submit(specs(10, 'meanwhile'))
    await copying
    await engine.close()
    const copy = await openSqliteEngine({ path: join(folder, 'copy.db') })
    expect((await copy.counts()).accepted).toBeGreaterThanOrEqual(500)
    expect((await copy.claim(await claimer(copy, 'w', 1))).claimed).toHaveLength(1)
    await copy.close()
  })

  it('can be copied while another process keeps writing, and overwrites nothing', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'store.db')
    const engine = await openSqliteEngine({ path, durability: 'fast' })
    for (let batch = 0; batch < 20; batch++) await engine.submit(specs(500, `batch-${batch}`))
    const churning = storeProcess(path, 'churn', 'w')
    expect(await churning.line()).toBe('churning')
    await engine.backup(join(folder, 'copy.db'))
    churning.child.kill('SIGKILL')
    const copy = new DatabaseSync(join(folder, 'copy.db'))
    expect(copy.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    copy.close()
    await expect(engine.backup(path)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    await engine.close()
  })

  it('fault 25: keeps its log bounded under load, while others read all there is', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path, durability: 'fast' })
    const reader = await openSqliteEngine({ path, durability: 'fast' })
    const request = await claimer(engine, 'w')
    let isOver = false
    // An export, as long as there is something to come: each page is a transaction of its own, or the log could never begin anew.
    const reading = (async () => {
      let pages = 0
      for (let cursor: string | null = null; !isOver; pages++) {
        const page = await reader.tasks({ limit: 500, ...(cursor === null ? {} : { cursor }) })
        cursor = page.next
        await new Promise((resolve) => setImmediate(resolve))
      }
      return pages
    })()
    for (let round = 0; round < 150; round++) {
      await engine.submit(specs(200, `r${round}`))
      const { claimed } = await engine.claim({ ...request, limit: 200 })
      await engine.settle(claimed.map((lease) => succeeded(lease, null)))
    }
    isOver = true
    expect(await reading).toBeGreaterThan(10)
    await reader.close()
    // It wrote far more than this in all; the log is folded back every 16 MiB.
    expect(statSync(`${path}-wal`).size).toBeLessThan(64 * 1024 * 1024)
    await engine.close()
  }, 60_000)

  it.runIf(canMount)('fault 24: on a full disk refuses writes whole, and carries on once there is room', async () => {
    const disk = smallDisk(3)
    const path = join(disk, 'store.db')
    const engine = await openSqliteEngine({ path })
    const padding = join(disk, 'padding')
    writeFileSync(padding, Buffer.alloc(1024 * 1024))
    let accepted = 0
    const fill = async (): Promise<void> => {
      for (let batch = 0; ; batch++) {
        await engine.submit(specs(200, `fill-${batch}`))
        accepted += 200
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'REPRISE_STORE_FULL', status: 503 })
    rmSync(padding)
    await engine.submit([spec('after')])
    expect((await engine.counts()).accepted).toBe(accepted + 1)
    await engine.close()
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    db.close()
  })
})

describe('what makes no sense', () => {
  it('is refused: an empty path, a limit beyond all numbers', async () => {
    await expect(openSqliteEngine({ path: '' })).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    const engine = await openSqliteEngine({ path: ':memory:' })
    const by = { actor: 'test', reason: 'test' }
    await expect(engine.limit({}, 2 ** 53, by)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
    expect((await engine.claim(await claimer(engine, 'w'))).claimed).toEqual([])
    await engine.close()
  })

  it('says which file it could not open', async () => {
    const path = join(temporaryFolder(), 'nowhere', 'store.db')
    await expect(openSqliteEngine({ path })).rejects.toThrow(path)
  })
})

describe('a file that is deleted under a running process', () => {
  it('takes no more writes: they would be acknowledged and lost', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    await engine.submit([spec('before')])
    rmSync(path)
    await expect(engine.submit([spec('after')])).rejects.toMatchObject({ code: 'REPRISE_STORE_DAMAGED' })
    writeFileSync(path, '')
    await expect(engine.submit([spec('after')])).rejects.toMatchObject({ code: 'REPRISE_STORE_DAMAGED' })
    await engine.close()
  })

  it.each(['-wal', '-shm'])('nor after its %s was deleted; what it has of it is saved at the end', async (suffix) => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    await engine.submit([spec('before')])
    rmSync(path + suffix)
    const refusal = { code: 'REPRISE_STORE_DAMAGED', message: expect.stringContaining(path + suffix) as string }
    await expect(engine.submit([spec('after')])).rejects.toMatchObject(refusal)
    await engine.close()
    const again = await openSqliteEngine({ path })
    expect((await again.tasks({})).items.map(({ id }) => id)).toEqual(['before'])
    await again.close()
  })
})

describe('closing', () => {
  it('commits what was asked before, refuses what comes after, and may be repeated', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const pending = engine.submit([spec('one')])
    await engine.close()
    await engine.close()
    expect(await pending).toEqual([{ outcome: 'accepted', id: 'one' }])
    await expect(engine.submit([spec('two')])).rejects.toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
    await expect(engine.counts()).rejects.toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
  })

  it('ends every wait', async () => {
    const engine = await openSqliteEngine({ path: ':memory:', clock: new VirtualClock() })
    const waiting = engine.wait({ pools: [spec('x').pool] }, 3_600_000)
    await engine.close()
    await expect(waiting).resolves.toBeUndefined()
  })
})

describe('a lock that another connection holds', () => {
  it('is waited for without blocking the process', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    let settled = false
    const submitting = engine.submit([spec('one')]).finally(() => {
      settled = true
    })
    for (let turn = 0; turn < 20; turn++) await engine.wait({}, 1)
    expect(settled).toBe(false)
    other.exec('COMMIT')
    expect(await submitting).toEqual([{ outcome: 'accepted', id: 'one' }])
    other.close()
    await engine.close()
  })
})

/** A disk of so many megabytes. */
function smallDisk(megabytes: number): string {
  const folder = join(temporaryFolder(), 'disk')
  mkdirSync(folder)
  mount(folder, megabytes)
  onTestFinished(() => unmount(folder))
  return folder
}

function mount(folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder])
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-mount-'))
  try {
    mount(folder, 1)
    unmount(folder)
    return true
  } catch {
    process.stderr.write('No right to mount a disk here: the test of a full disk is left out.\n')
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

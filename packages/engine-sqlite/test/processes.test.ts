import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, it } from 'vitest'
import { claimer, spec, specs, storeProcess, temporaryFolder } from './fixture.ts'

describe('several processes on one file', () => {
  it('create and migrate it at the same time without harm', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const processes = Array.from({ length: 6 }, () => storeProcess(path, 'open'))
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0, 0])
    const engine = await openSqliteEngine({ path })
    expect(await engine.submit([spec('one')])).toEqual([{ outcome: 'accepted', id: 'one' }])
    await engine.close()
  })

  it('submit and drain together: every task is claimed once', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const submitters = ['a', 'b'].map((name) => storeProcess(path, 'submit', name))
    expect(await Promise.all(submitters.map(({ ended }) => ended))).toEqual([0, 0])
    const drainers = ['x', 'y', 'z'].map((name) => storeProcess(path, 'drain', name))
    const claimed = await Promise.all(drainers.map(readAll))
    const all = claimed.flat()
    expect(all).toHaveLength(2_000)
    expect(new Set(all).size).toBe(2_000)
    const engine = await openSqliteEngine({ path })
    expect(await engine.counts()).toMatchObject({ accepted: 2_000, succeeded: 2_000, running: 0, queued: 0 })
    await engine.close()
  })

  it('wake each other: a waiting process hears of a task that another one submits', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const waiter = storeProcess(path, 'wait', 'w')
    expect(await waiter.line()).toBe('waiting')
    await engine.submit([spec('for-you')])
    // The waiter's own time-out is a minute; the test's is half of that.
    expect(await waiter.line()).toBe('for-you')
    await engine.close()
  })

  it('fault 6: die at any moment and leave a sound store: all or nothing, counters equal recounts', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    await engine.submit(specs(5, 'before'))
    for (let kill = 0; kill < 8; kill++) {
      const churning = storeProcess(path, 'churn', `w${kill}`)
      expect(await churning.line()).toBe('churning')
      const accepted = (await engine.counts()).accepted
      // Kill it only once it is seen to write.
      while ((await engine.counts()).accepted === accepted) await engine.wait({}, 1)
      churning.child.kill('SIGKILL')
      await churning.ended
    }
    await engine.submit(specs(5, 'after'))
    await engine.close()
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    const kept = db
      .prepare(
        'SELECT sum(accepted) AS accepted, sum(queued) AS queued, sum(running) AS running, sum(succeeded) AS succeeded FROM lanes',
      )
      .get()
    const counted = db
      .prepare(`SELECT
      (SELECT count(*) FROM tasks) AS accepted, (SELECT count(*) FROM ready) AS queued, (SELECT count(*) FROM leases) AS running,
      (SELECT count(*) FROM successes) AS succeeded`)
      .get()
    expect(kept).toEqual(counted)
    expect(db.prepare('SELECT count(*) AS stray FROM leases WHERE seq IN (SELECT seq FROM ready)').get()).toEqual({
      stray: 0,
    })
    db.close()
  })

  it('take over the work of one that died, when its id registers again', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const before = await claimer(engine, 'w')
    await engine.submit([spec('one')])
    expect((await engine.claim(before)).claimed).toHaveLength(1)
    await claimer(engine, 'w')
    const { overdue } = await engine.expired(10)
    expect(overdue.map(({ kind, ref }) => [kind, ref.taskId])).toEqual([['lease', 'one']])
    await engine.close()
  })
})

async function readAll(process: ReturnType<typeof storeProcess>): Promise<string[]> {
  const lines: string[] = []
  for (let line = await process.line(); line !== ''; line = await process.line()) lines.push(line)
  return lines
}

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, it } from 'vitest'
import { spec, specs, temporaryFolder } from './fixture.ts'

describe('concurrent callers', () => {
  it('share a commit: many writes of one turn show to others at once', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const other = new DatabaseSync(path)
    const version = (): unknown => other.prepare('PRAGMA data_version').get()?.data_version
    const before = Number(version())
    const seen = new Set<unknown>()
    await Promise.all(
      specs(100).map(async (task) => {
        await engine.submit([task])
        seen.add(version())
      }),
    )
    // One change, or a few if the machine was slow: never one for each.
    expect(seen.size).toBeLessThan(10)
    expect(Number(version())).toBeGreaterThan(before)
    other.close()
    await engine.close()
  })

  it('each get their own answer: a refusal does not touch the others', async () => {
    const engine = await openSqliteEngine({ path: ':memory:', backlogMax: 2 })
    const answers = await Promise.allSettled([
      engine.submit([spec('a')]),
      engine.submit(specs(5, 'too-many')),
      engine.submit([spec('b')]),
      engine.submit([spec('c')]),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(answers[1]).toMatchObject({ reason: { code: 'REPRISE_BACKLOG_FULL' } })
    expect(await engine.counts()).toMatchObject({ accepted: 2, queued: 2 })
    await engine.close()
  })
})

// reprise inspect on a store that has come to contradict itself.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Inspection } from './command-cases.ts'
import { REFUSE, seeded, serverAndStore, WAYS } from './server-and-store.ts'

test.each(WAYS)(
  'B11: inspect over %s finds drift and says so with 1, and repairs it only when it is told to',
  async (way) => {
    const here = await serverAndStore()
    const { queued } = await seeded(here.engine)
    const db = new DatabaseSync(join(here.folder, 'store.db'))
    db.exec('DELETE FROM ready')
    db.close()
    const Findings = Inspection.and(z.object({ findings: z.array(z.unknown()).min(1) }))
    const look = await here.over(way, 'inspect', '-o', 'json')
    expect(look.exitCode).toBe(1)
    const { findings } = Findings.parse(JSON.parse(look.stdout))
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'queue_entry_missing', repaired: false }))
    const people = await here.over(way, 'retry-inspect', '--step', '1')
    expect(people).toMatchObject({ exitCode: 1 })
    expect(people.stdout).toContain(`task '${queued}'`)
    expect(people.stderr).toContain('--reconcile')
    const repair = await here.over(way, 'inspect', '--reconcile', '--yes', '-o', 'json', '--reason', 'after the crash')
    expect(repair.exitCode).toBe(0)
    expect(Findings.parse(JSON.parse(repair.stdout)).findings.every(({ repaired }) => repaired)).toBe(true)
    expect(await here.over(way, 'inspect')).toMatchObject({ exitCode: 0 })
  },
)

test.each(WAYS)(
  'B11: retry-inspect over %s shows the delay queue and the dead letters before its check',
  async (way) => {
    const here = await serverAndStore()
    await seeded(here.engine)
    const people = await here.over(way, 'retry-inspect')
    expect(people.stdout).toMatch(/^Delay queue: \d+ waiting, the next is due in \d+m\.\nREASON +TASKS +NEXT DUE\n/)
    expect(people.stdout).toMatch(/Dead letters: 2\.\nGROUP +DEAD +FIRST +LAST +STATE +ACTION/)
    expect(people.stdout).toMatch(/everything fits\.\n$/)
    const { stdout } = await here.over(way, 'retry-inspect', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      delayQueue: { nextDueAt: expect.any(Number) as number, isPartial: false },
      deadLetters: { tasks: 2, groups: [{ count: 2, action: REFUSE }], isPartial: false },
      findings: [],
    })
    await here.over(way, 'flags', 'set', 'dlq-inspector', 'off')
    const off = await here.over(way, 'retry-inspect')
    expect(off.stdout).toContain("Dead letters: 2.\nTheir causes are not shown: 'reprise groups' says why.\n")
  },
)

// The file of the sealed journal: where it goes on after a process was killed in the middle of a long write, and where it begins when
// retention has removed the oldest seals before.

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, type JournalEntryInput, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { AuditFile, type AuditLine } from '../src/audit/file.ts'
import { removeOldSeals, sealOnce } from '../src/audit/sealer.ts'
import { verifyLines } from '../src/audit/verify-lines.ts'

const DAY = 86_400_000

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-audit-file-'))
  const clock = new VirtualClock(1_900_000_000_000)
  const engine = await openSqliteEngine({ path: join(folder, 'store.db'), clock, durability: 'fast' })
  onTestFinished(async () => {
    await engine.close()
    rmSync(folder, { recursive: true })
  })
  return { clock, engine, path: join(folder, 'audit.ndjson') }
}

async function sealed(engine: Engine, reason: string): Promise<void> {
  const entry: JournalEntryInput = { type: 'note', taskId: null, attempt: null, actor: 'ann', reason, data: {} }
  await engine.journal.append([entry])
  await sealOnce(engine)
}

const linesIn = (path: string): readonly AuditLine[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine)

const sealsOf = (path: string): readonly number[] =>
  linesIn(path).flatMap((line) => (line.kind === 'seal' ? [line.number] : []))

const { signal } = new AbortController()

test('a long write that was cut off is cut away, however long it was, and nothing is written twice', async () => {
  const { engine, path } = await opened()
  await sealed(engine, 'one')
  await sealed(engine, 'two')
  await new AuditFile(path, engine).goOn(signal)
  const cut = JSON.stringify({ kind: 'entry', seal: 3, entry: { reason: 'x'.repeat(4_000) } })
  // A process that is killed leaves some of its lines, and half of one.
  for (let line = 0; line < 400; line++) appendFileSync(path, `${cut}\n`)
  appendFileSync(path, cut.slice(0, 2_000))
  await sealed(engine, 'three')
  await new AuditFile(path, engine).goOn(signal)
  expect(sealsOf(path)).toEqual([1, 2, 3])
  async function* lines() {
    yield* linesIn(path)
  }
  expect(await verifyLines(lines(), true)).toMatchObject({ seals: 3, entries: 3, absent: 0, problems: [] })
})

test('a new file begins with the oldest seal that retention has left', async () => {
  const { engine, clock, path } = await opened()
  for (const reason of ['one', 'two', 'three']) await sealed(engine, reason)
  await clock.advance(3 * DAY)
  await removeOldSeals(engine, DAY)
  await sealed(engine, 'four')
  await new AuditFile(path, engine).goOn(signal)
  expect(sealsOf(path)).toEqual([4])
})

test('a file that fell behind retention goes on where the chain begins now', async () => {
  const { engine, clock, path } = await opened()
  await sealed(engine, 'one')
  const file = new AuditFile(path, engine)
  await file.goOn(signal)
  for (const reason of ['two', 'three']) await sealed(engine, reason)
  await clock.advance(3 * DAY)
  await removeOldSeals(engine, DAY)
  await sealed(engine, 'four')
  await file.goOn(signal)
  expect(sealsOf(path)).toEqual([1, 4])
})

test('a file that is no file of the audit is left as it is; one that was cut off in its first line is not one of these', async () => {
  const { engine, path } = await opened()
  await sealed(engine, 'one')
  writeFileSync(path, 'the notes of somebody\n')
  await expect(new AuditFile(path, engine).goOn(signal)).rejects.toThrow(/not a file of the audit/)
  expect(readFileSync(path, 'utf8')).toBe('the notes of somebody\n')
  writeFileSync(path, '{"ki')
  await new AuditFile(path, engine).goOn(signal)
  expect(sealsOf(path)).toEqual([1])
})

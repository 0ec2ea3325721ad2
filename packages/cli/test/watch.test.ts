// --watch: a copy of the role runs, and another one after each change of a file.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Copy } from '../src/host.ts'
import { shell } from './shell.ts'

/** Copies that run until they are stopped, or until the test ends them. */
function copies() {
  const started: { readonly end: (exitCode: number) => void; readonly isStopped: () => boolean }[] = []
  const waiting = new Map<number, () => void>()
  const startCopy = (): Copy => {
    const ended = Promise.withResolvers<number | null>()
    let isStopped = false
    const stop = (): void => {
      isStopped = true
      ended.resolve(0)
    }
    started.push({ end: ended.resolve, isStopped: () => isStopped })
    waiting.get(started.length)?.()
    return { ended: ended.promise, stop }
  }
  return {
    started,
    startCopy,
    until: (count: number) =>
      new Promise<void>((resolve) => {
        if (started.length >= count) resolve()
        else waiting.set(count, resolve)
      }),
  }
}

test.each(['up', 'worker'])('%s --watch starts again with each change, and ends when asked', async (role) => {
  const { started, startCopy, until } = copies()
  const { folder, reprise, heard, ask } = shell({
    startCopy,
    files: { 'src/actions.ts': '', 'src/lib/colours.ts': '', 'src/node_modules/x/index.js': '' },
  })
  const running = reprise(role, './src/actions.ts', '--watch')
  await until(1)
  writeFileSync(join(folder, 'src/node_modules/x/index.js'), '// changed')
  writeFileSync(join(folder, 'src/notes.txt'), 'changed')
  writeFileSync(join(folder, 'src/lib/colours.ts'), '// changed')
  await until(2)
  await heard(/src\/lib\/colours\.ts has changed: it starts again\./, running)
  expect(started.map(({ isStopped }) => isStopped())).toEqual([true, false])
  started[1]?.end(2)
  await heard(/It ended with exit code 2\. A change of a file starts it again\./, running)
  writeFileSync(join(folder, 'src/actions.ts'), '// changed')
  await until(3)
  ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
  expect(started).toHaveLength(3)
  expect(started[2]?.isStopped()).toBe(true)
})

test('--watch without a module is refused', async () => {
  const { exitCode, stderr } = await shell().reprise('up', '--watch')
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--watch needs a module')])
})

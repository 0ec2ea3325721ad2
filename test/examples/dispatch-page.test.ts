// The example of docs/dispatch.md is run as it stands there.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test('D2, D6: the example of docs/dispatch.md compiles, runs and ends by itself', async () => {
  const page = readFileSync(join(ROOT, 'docs', 'dispatch.md'), 'utf8')
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '')
  const complete = blocks.filter((block) => block.includes("from '@reprise/worker'"))
  expect(complete).toHaveLength(1)
  // Inside the repository, so that the packages are found.
  const folder = mkdtempSync(join(ROOT, 'test', '.readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'directed.ts')
  writeFileSync(file, complete.join(''))
  const options = { noEmit: true, allowImportingTsExtensions: true }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: options, include: ['*.ts'] }),
  )
  const run = promisify(execFile)
  await expect(run(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', folder])).resolves.toMatchObject({ stdout: '' })
  const ended = run(process.execPath, ['--conditions=reprise-source', file], { cwd: folder, timeout: 30_000 })
  await expect(ended).resolves.toEqual({ stdout: 'dragon.png\n', stderr: '' })
})

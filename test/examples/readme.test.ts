// The README's code is code: what it shows must compile, with the types it promises, against the packages as they are.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '')

test('every TypeScript block compiles', async () => {
  expect(blocks).toHaveLength(3)
  // Inside the repository, so that the packages are found.
  const folder = mkdtempSync(join(root, 'test', '.readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [sdk = '', policies = '', testing = ''] = blocks
  writeFileSync(join(folder, 'sdk.ts'), sdk)
  writeFileSync(
    join(folder, 'policies.ts'),
    `import { createWorker } from '@reprise/worker'\nimport { sendInvoice } from './sdk.ts'\n${policies}`,
  )
  writeFileSync(join(folder, 'testing.ts'), `import { sendInvoice } from './sdk.ts'\n${testing}`)
  const options = { noEmit: true, allowImportingTsExtensions: true, noUnusedLocals: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions: options, include: ['*.ts'] }),
  )
  const compiled = promisify(execFile)(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder])
  await expect(compiled).resolves.toMatchObject({ stdout: '' })
})

test('the commands it shows exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const named = [...readme.matchAll(/npm (?:run )?(start|demo|test(?::\w+)?|bench(?::\w+)?|check)\b/g)].map(
    (match) => match[1] ?? '',
  )
  expect(named.length).toBeGreaterThan(3)
  for (const name of named) expect(scripts).toHaveProperty([name])
})

// --version behind a role is the version of what it runs; anywhere else it asks for that of the command.

import { expect, test } from 'vitest'
import { withWorkerVersion } from '../src/command/worker-version.ts'
import { shell } from './shell.ts'

const meant = (line: string): string => withWorkerVersion(line.split(' ')).join(' ')

test.each([
  ['worker ./a.ts --version 2.4.0', 'worker ./a.ts --worker-version 2.4.0'],
  ['up ./a.ts --version=2.4.0', 'up ./a.ts --worker-version=2.4.0'],
  ['--engine redis://h worker --version 2 ./a.ts', '--engine redis://h worker --worker-version 2 ./a.ts'],
])('%s', (line, expected) => {
  expect(meant(line)).toBe(expected)
})

test.each([
  '--version',
  'worker --version',
  'up --version --port 0',
  'list --version 2',
  '--version worker',
  'worker ./a.ts -- --version 2',
  '--engine worker list --version 2',
])('%s is left as it is', (line) => {
  expect(meant(line)).toBe(line)
})

test('the version of the command is still to be had', async () => {
  const { exitCode, stdout } = await shell({}).reprise('worker', '--version')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
})

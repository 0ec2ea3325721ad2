// The set-up of Redis, in each situation that needs no installation: the PATH holds nothing but what a test puts there.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/setup-redis.mjs', import.meta.url))

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'reprise-setup-'))
})
afterEach(() => rmSync(path, { recursive: true }))

function program(name: string, output: string): void {
  writeFileSync(join(path, name), `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 })
}

function setUp(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    env: { PATH: path },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('a server that is new enough is left alone, without a word', () => {
  program('redis-server', 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0')
  expect(setUp()).toEqual({ status: 0, stdout: '', stderr: '' })
})

test('one that is too old is refused', () => {
  program('redis-server', 'Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64 build=0')
  const { status, stderr } = setUp()
  expect(status).toBe(1)
  expect(stderr).toContain('version 6, and 7 or newer is needed')
})

test('without one and without apt-get, it says what to do', () => {
  const [needed, optional] = [setUp(), setUp('--optional')]
  expect([needed.status, optional.status]).toEqual([1, 0])
  for (const { stderr } of [needed, optional]) expect(stderr).toContain('Install Redis 7 or newer')
})

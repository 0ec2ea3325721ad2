// reprise policy check and simulate, on real files.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shell } from './shell.ts'

const SAMPLE = readFileSync(join(import.meta.dirname, '../../../config/tasks/retry-policies.yaml'), 'utf8')
const USUAL = { 'config/tasks/retry-policies.yaml': SAMPLE }

describe('B7: reprise policy check', () => {
  test('finds the usual file by itself', async () => {
    const { exitCode, stdout } = await shell({ files: USUAL }).reprise('policy', 'check')
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ok .*retry-policies\.yaml: 5 policies\n$/)])
  })

  test('counts one as one', async () => {
    const { reprise } = shell({ files: { 'p.yaml': 'policies:\n  - name: a\n    retries: 3\n' } })
    expect((await reprise('policy', 'check', 'p.yaml')).stdout).toMatch(/p\.yaml: 1 policy\n/)
  })

  test('tells every problem with its place, and exits with 2', async () => {
    const { reprise } = shell({ files: { 'p.yaml': 'policies:\n  - name: a\n    retrys: 3\n    retries: many\n' } })
    const { exitCode, stdout } = await reprise('policy', 'check', 'p.yaml', '-o', 'json')
    expect(exitCode).toBe(2)
    const { ok, files } = JSON.parse(stdout) as {
      ok: boolean
      files: { problems: { line: number; path: string }[] }[]
    }
    expect(ok).toBe(false)
    expect(files[0]?.problems.map(({ line, path }) => [line, path])).toEqual([
      [3, 'policies[0].retrys'],
      [4, 'policies[0].retries'],
    ])
  })

  test('refuses a file in another encoding than UTF-8, rather than read it as something that nobody wrote', async () => {
    const { folder, reprise } = shell()
    writeFileSync(join(folder, 'p.yaml'), Buffer.from('policies:\n  - name: "caf\xe9"\n    retries: 1\n', 'latin1'))
    const { exitCode, stdout } = await reprise('policy', 'check', 'p.yaml')
    expect([exitCode, stdout]).toEqual([2, expect.stringContaining('It is not a text in UTF-8.')])
  })

  test('checks packs too, and says what is hardly meant', async () => {
    const { reprise } = shell({
      files: {
        'p.yaml': 'policies:\n  - name: all\n    retries: 1\n  - name: never-reached\n    retries: 2\n',
        'packs/one.yaml': 'pack: one\nactions: []\nwrong: 1\n',
      },
    })
    const { exitCode, stdout } = await reprise('policy', 'check', 'p.yaml', '--packs', 'packs')
    expect(exitCode).toBe(2)
    expect(stdout).toContain("'never-reached' is never reached")
    expect(stdout).toMatch(/wrong .*one\.yaml:3:1: wrong/)
  })

  test('with nothing to check, and with a file that is not there, it fails', async () => {
    const { reprise } = shell()
    expect(await reprise('policy', 'check')).toMatchObject({ exitCode: 2, stdout: '' })
    expect((await reprise('policy', 'check', 'nowhere.yaml')).exitCode).toBe(2)
  })
})

describe('B7: reprise policy simulate', () => {
  test('says what would become of a task, attempt by attempt', async () => {
    const { reprise } = shell({ files: USUAL })
    const { exitCode, stdout } = await reprise('policy', 'simulate', 'report.build', '--status', '503')
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['ATTEMPT', 'STARTS AFTER', 'FAILS AS', 'POLICY', 'THEN'],
      ['1', '0ms', 'HTTP_503', 'everything', 'again in 1s'],
      ['2', '1s', 'HTTP_503', 'everything', 'again in 2s'],
      ['3', '3s', 'HTTP_503', 'everything', 'again in 4s'],
      ['4', '7s', 'HTTP_503', 'everything', 'dead: retries_exhausted'],
      [expect.stringMatching(/^By the file .*retry-policies\.yaml\.$/)],
      [''],
    ])
  })

  test('a lost worker, for a program', async () => {
    const { reprise } = shell({ files: USUAL })
    const { stdout } = await reprise('policy', 'simulate', 'charge-card', '--lost', '-o', 'json')
    const { attempts } = JSON.parse(stdout) as { attempts: { decision: object }[] }
    expect(attempts).toHaveLength(1)
    expect(attempts[0]?.decision).toMatchObject({ kind: 'dead', policy: { name: 'payments' } })
  })

  test.each([
    [[]],
    [['--lost', '--status', '500']],
    [['--status', 'teapot']],
    [['--code', 'x', '--attempt-time', 'soon']],
  ])('%j is not enough, or too much', async (argv) => {
    expect(await shell().reprise('policy', 'simulate', 'a', ...argv)).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

// The incident as it is made for people, small: what it leaves behind, and what an operator finds with the command line alone.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { runIncident } from '../src/incident.ts'

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/reprise.mjs', import.meta.url))

const TASKS = 600
/** Half of them are eu's; of the others one in a hundred is poisoned. */
const OF_EU = 300
const POISONED_ELSEWHERE = 3

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-incident-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function storeOf(kind: 'sqlite' | 'redis', folder: string): Promise<string> {
  if (kind === 'sqlite') return `sqlite:${join(folder, 'reprise.db')}`
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return redis.url
}

const lines = (text: string): readonly unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))

test.each(['sqlite', 'redis'] as const)(
  'a bad deploy: its trouble has a name, its causes are few, and its version is found after its workers left (%s)',
  async (kind) => {
    const folder = temporaryFolder()
    const engine = await storeOf(kind, folder)
    const { signal } = new AbortController()
    const left = await runIncident({ engine, tasks: TASKS, tell: () => undefined, signal })
    const dead = OF_EU + POISONED_ELSEWHERE
    expect(left).toEqual({ succeeded: TASKS - dead, dead })

    const reprise = (...words: string[]): string => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--conditions=reprise-source', '--no-warnings', BIN, ...words, '--engine', engine],
        { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH ?? '', HOME: folder } },
      )
      if (status !== 0) throw new Error(`reprise ${words.join(' ')}: ${stderr}`)
      return stdout
    }

    expect(JSON.parse(reprise('status', '-o', 'json'))).toMatchObject({ monitoring: { level: 'critical' } })
    const groups = lines(reprise('groups', '-o', 'jsonl'))
    expect(groups.length).toBeGreaterThan(3)
    expect(groups.length).toBeLessThanOrEqual(8)

    expect(lines(reprise('list', 'version:2 status:dead', '-o', 'jsonl', '-n', '500'))).toHaveLength(OF_EU)
    expect(lines(reprise('list', 'host:us-host status:dead', '-o', 'jsonl'))).toHaveLength(POISONED_ELSEWHERE)
    expect(JSON.parse(reprise('count', 'status:dead', '--by', 'version', '-o', 'json'))).toMatchObject({
      values: [
        { value: '2', count: OF_EU },
        { value: '1', count: POISONED_ELSEWHERE },
      ],
    })
    const [task] = lines(reprise('list', 'worker:shop-eu-1', '-o', 'jsonl', '-n', '1')) as readonly { id: string }[]
    expect(reprise('status', task?.id ?? '')).toContain('on shop-eu-1 (version 2, host eu-host)')

    expect(lines(reprise('workers', '-o', 'jsonl'))).toEqual([])
    expect(
      (lines(reprise('workers', '--left', '-o', 'jsonl')) as readonly { worker: string; version: string }[])
        .map(({ worker, version }) => `${worker} ${version}`)
        .sort(),
    ).toEqual(['shop-eu-1 2', 'shop-eu-2 2', 'shop-us-1 1'])
  },
  300_000,
)

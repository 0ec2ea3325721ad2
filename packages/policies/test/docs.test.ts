// The page about policies and the sample file say what is true: their YAML is read, their example is tried out.

import { readFileSync } from 'node:fs'
import { BACKOFF_KINDS, DEFAULT_BREAKER, defineAction, formatDuration } from '@reprise/core'
import { parsePack, parsePolicies, policyNotes, RUNTIMES, simulate, TEMPLATE_NAMES } from '@reprise/policies'
import { describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const page = read('docs/policies.md')
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
const isPack = (text: string) => text.startsWith('pack:')
const bookOf = (text: string, version = 1) => parsePolicies(text, { file: 'docs/policies.md', version })

describe('docs/policies.md', () => {
  test('every block of YAML is a valid file', () => {
    expect(blocks.length).toBeGreaterThan(4)
    for (const text of blocks) {
      const parse = isPack(text) ? () => parsePack(text, 'docs/policies.md') : () => bookOf(text)
      expect(parse).not.toThrow()
    }
    expect(blocks.filter(isPack)).toHaveLength(1)
  })

  test('names every field, as the reader knows them', () => {
    const known = (text: string, read: (text: string) => unknown): readonly string[] => {
      try {
        read(text)
      } catch (error) {
        const [, list = ''] = /Known are: (.*)\.$/m.exec(String(error)) ?? []
        return list.split(', ')
      }
      return []
    }
    const inPolicy = (field: string) => known(`policies: [{ name: p, ${field} }]`, bookOf)
    const fields = [
      known('x: 1', bookOf),
      inPolicy('x: 1'),
      inPolicy('match: { x: 1 }'),
      ...BACKOFF_KINDS.map((kind) => inPolicy(`backoff: { kind: ${kind}, x: 1 }`)),
      inPolicy('quota: { x: 1, window: 1m, limit: 5 }'),
      inPolicy('breaker: { x: 1 }'),
      inPolicy('escalation: { x: 1 }'),
      inPolicy('retry_after: { x: 1 }'),
      known('pack: p\nactions: [{ x: 1 }]', (text) => parsePack(text, 'p')),
    ]
    for (const list of fields) expect(list.length).toBeGreaterThan(1)
    const conditions = inPolicy('rules: [{ when: { x: 1 }, then: { reason: transient } }]')
    const missing = [
      ...fields.flat(),
      ...TEMPLATE_NAMES,
      ...RUNTIMES,
      ...conditions.map((name) => `when.${name}`),
    ].filter((name) => !page.includes(`\`${name}\``))
    expect(missing).toEqual([])
  })

  test('the worked example comes out as it says', () => {
    const text = blocks.find((block) => block.includes('name: maintenance')) ?? ''
    const book = bookOf(text, 12)
    const { settings } = defineAction({ name: 'charge-card', uses: ['stripe'] })
    const failure = { status: 418, message: 'We are down for scheduled maintenance' }
    const { attempts, notes } = simulate(book, { action: 'charge-card', settings, failure })
    const rows = attempts.map(
      ({ attempt, startsAtMs, decision }) =>
        `| ${attempt} | ${startsAtMs === 0 ? '0s' : formatDuration(startsAtMs)} | ${decision.sentence} |`,
    )
    expect(page).toContain(rows.join('\n'))
    expect(notes).toEqual([])
    expect(attempts[0]).toMatchObject({
      failure: { code: 'HTTP_418', reason: 'worker_unavailable', retriable: true, rule: 'rule:maintenance' },
      decision: { policy: { name: 'payments', version: 12 } },
      guards: {
        outage: { breakers: [{ name: 'dependency:stripe', settings: DEFAULT_BREAKER }] },
        quota: { name: 'payments' },
      },
    })
    expect(attempts.at(-1)?.decision).toMatchObject({
      kind: 'dead',
      escalation: { severity: 'critical', owner: 'team-payments', runbook: 'check-with-the-bank' },
    })
  })
})

describe('config/tasks/retry-policies.yaml', () => {
  test('B7: is valid, and nothing in it is hidden or late', () => {
    const book = bookOf(read('config/tasks/retry-policies.yaml'))
    expect(book.policies.map(({ name }) => name)).toEqual([
      'rate-limited',
      'payments',
      'interactive',
      'plugins',
      'everything',
    ])
    expect(policyNotes(book)).toEqual([])
    for (const template of TEMPLATE_NAMES)
      expect(read('config/tasks/retry-policies.yaml')).toContain(`template: ${template}`)
  })
})

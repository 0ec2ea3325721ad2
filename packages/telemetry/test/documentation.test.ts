// docs/observability.md and the alert file keep to what the code registers: every metric with its type and labels, and no other.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { metricsText } from '@reprise/telemetry'
import { expect, test } from 'vitest'
import { CATALOGUE } from '../src/catalogue.ts'
import { aRegistry, openStore, registerAll } from './fixture.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8')

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
}

const byName = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))

const documented: readonly Row[] = [
  ...read('docs', 'observability.md').matchAll(
    /^\| `(?<name>\w+)` \| (?<type>counter|gauge|histogram) \|(?<labels>[^|]*)\|/gm,
  ),
].map(({ groups = {} }) => ({
  name: groups.name ?? '',
  type: groups.type ?? '',
  labels: [...(groups.labels ?? '').matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
}))

test('B9, D4 and C10: the page has every metric of the catalogue, with its type and labels, and no other', () => {
  const catalogue = Object.values(CATALOGUE).map(({ name, type, labels }) => ({ name, type, labels: [...labels] }))
  expect(byName(documented)).toEqual(byName(catalogue))
})

test('every metric of the catalogue is registered by somebody, and nothing beside', async () => {
  const { engine } = await openStore()
  const metrics = aRegistry()
  registerAll(engine, metrics)
  const registered = metrics.getMetricsAsArray().map(({ name, type }) => ({ name, type }))
  const order = (rows: readonly { readonly name: string; readonly type: string }[]): string[] =>
    rows.map(({ name, type }) => `${name} ${type}`).toSorted()
  expect(order(registered)).toEqual(order(documented))
  expect(await metricsText(metrics)).toContain('# TYPE reprise_queue_wait_seconds histogram')
})

test('B9: the five names of the design', () => {
  const names = documented.map(({ name }) => name)
  for (const word of ['scheduled', 'success', 'failure', 'dlq', 'escalated']) {
    expect(names).toContain(`task.retry.${word}_total`.replaceAll('.', '_'))
  }
})

test('B10 and C10: the alerts have the thresholds, and name no metric that does not exist', () => {
  const alerts = read('config', 'monitoring', 'alerts.yaml').replace(/^#.*$/gm, '')
  const used = new Set([...alerts.matchAll(/\b(?:reprise|task_retry|scheduler)_\w+/g)].map(([name]) => name))
  expect(used.size).toBeGreaterThan(5)
  const known = new Set(documented.map(({ name }) => name))
  expect([...used].filter((name) => !known.has(name))).toEqual([])
  for (const threshold of ['> 0.15', '_rate) > 0.2', '_rate) > 0.5', '_share) > 0.3', '_share) > 0.7']) {
    expect(alerts).toContain(threshold)
  }
})

// Every query of every dashboard names metrics that a real scrape has, labels that these metrics have, and functions of PromQL; where
// promtool is installed, it reads them all. The files in config/monitoring/grafana are what the code says: --update writes them.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DASHBOARDS, grafanaJson } from '@reprise/telemetry'
import { expect, onTestFinished, test } from 'vitest'
import { CATALOGUE, type MetricDefinition } from '../src/catalogue.ts'
import { fullScrape } from './fixture.ts'
import { namesIn } from './promql.ts'

const FUNCTIONS = new Set(['sum', 'max', 'min', 'rate', 'increase', 'histogram_quantile'])
const GRAFANA = join(import.meta.dirname, '..', '..', '..', 'config', 'monitoring', 'grafana')
const LABELS = new Map(Object.values<MetricDefinition>(CATALOGUE).map(({ name, labels }) => [name, labels] as const))

const panels = DASHBOARDS.flatMap(({ title, panels: all }) =>
  all.flatMap((panel) => panel.queries.map(([query, legend]) => ({ name: `${title}: ${panel.title}`, query, legend }))),
)

/** The metrics of a scrape, as its TYPE lines name them. */
async function scrapedNames(): Promise<ReadonlySet<string>> {
  const scrape = await fullScrape()
  return new Set([...scrape.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
}

/** What is wrong with a query. */
function problemsOf(query: string, legend: string, scraped: ReadonlySet<string>): readonly string[] {
  const { metrics, labels, functions, isBalanced } = namesIn(query)
  const families = metrics.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
  const known = new Set(['le', ...families.flatMap((name) => LABELS.get(name) ?? [])])
  const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
  return [
    ...(isBalanced ? [] : ['brackets']),
    ...(metrics.length === 0 ? ['no metric'] : []),
    ...families.filter((name) => !scraped.has(name)).map((name) => `no metric ${name}`),
    ...functions.filter((name) => !FUNCTIONS.has(name)).map((name) => `no function ${name}`),
    ...labels.filter((label) => !known.has(label)).map((label) => `no label ${label}`),
    ...shown.filter((label) => !labels.includes(label)).map((label) => `${label} is not in the result`),
  ]
}

test('B16, C10: every panel asks for metrics and labels that a scrape has', async () => {
  const scraped = await scrapedNames()
  expect(scraped.size).toBeGreaterThan(30)
  expect(panels.length).toBeGreaterThan(30)
  const problems = panels.flatMap(({ name, query, legend }) =>
    problemsOf(query, legend, scraped).map((problem) => `${name}: ${problem}`),
  )
  expect(problems).toEqual([])
})

test.each([
  ['an unknown metric', 'sum(rate(reprise_nothing_total[5m]))', 'x', 'no metric reprise_nothing_total'],
  ['an unknown label', 'max by (colour) (reprise_tasks)', 'x', 'no label colour'],
  ['a label in a matcher', 'max(reprise_tasks{colour="red"})', 'x', 'no label colour'],
  ['an unknown function', 'total(reprise_tasks)', 'x', 'no function total'],
  ['an open bracket', 'max(reprise_tasks', 'x', 'brackets'],
  ['a legend without its label', 'max(reprise_tasks)', '{{status}}', 'status is not in the result'],
])('refuses %s', async (_, query, legend, problem) => {
  expect(problemsOf(query, legend, await scrapedNames())).toContain(problem)
})

test('B16: promtool reads every query', (context) => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
  } catch {
    context.skip('promtool is not installed')
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-dashboards-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'rules.yml')
  const rules = panels.map(({ query }, at) => {
    const expr = JSON.stringify(query.replaceAll('$__rate_interval', '5m'))
    return `      - { record: 'panel:${at}', expr: ${expr} }`
  })
  writeFileSync(file, ['groups:', '  - name: panels', '    rules:', ...rules, ''].join('\n'))
  expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain(
    `SUCCESS: ${panels.length} rules found`,
  )
})

test.each(DASHBOARDS)('B16: config/monitoring/grafana/$file is what the code says', async (dashboard) => {
  await expect(grafanaJson(dashboard)).toMatchFileSnapshot(join(GRAFANA, dashboard.file))
})

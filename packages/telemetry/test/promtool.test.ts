import { expect, test } from 'vitest'
import { CATALOGUE } from '../src/catalogue.ts'
import { fullScrape } from './fixture.ts'
import { promtoolProblems } from './promtool.ts'

test('everything that a server shows keeps to the rules, with the figures of the process itself', async () => {
  const scrape = await fullScrape()
  expect(scrape).toContain('process_cpu_seconds_total')
  expect(scrape).toContain('nodejs_active_handles')
  expect(promtoolProblems(scrape)).toEqual([])
})

test('so does every metric of the catalogue, with all its labels', () => {
  const scrape = Object.values(CATALOGUE).map(({ name, type, labels, help }) => {
    const sample = type === 'histogram' ? `${name}_count` : name
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${sample}{${labels.map((label) => `${label}="x"`).join()}} 1`
  })
  expect(promtoolProblems(scrape.join('\n'))).toEqual([])
})

test.each([
  ['a gauge with a quantile', '# HELP a A.\n# TYPE a gauge\na{quantile="p50"} 1'],
  ['a gauge that ends in _total', '# HELP a_total A.\n# TYPE a_total gauge\na_total 1'],
  ['a counter that does not', '# HELP a A.\n# TYPE a counter\na 1'],
  ['milliseconds', '# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1'],
  ['another unit that is no base', '# HELP a_hours A.\n# TYPE a_hours gauge\na_hours 1'],
  ['no help', '# TYPE a gauge\na 1'],
  ['no type', '# HELP a A.\na 1'],
  ['its type in its name', '# HELP a_gauge A.\n# TYPE a_gauge gauge\na_gauge 1'],
  ['a suffix of histograms', '# HELP a_count A.\n# TYPE a_count gauge\na_count 1'],
  ['a bound on a gauge', '# HELP a A.\n# TYPE a gauge\na{le="1"} 1'],
  ['camel case', '# HELP a A.\n# TYPE a gauge\na{someLabel="1"} 1'],
  ['a colon', '# HELP a:b A.\n# TYPE a:b gauge\na:b 1'],
])('refuses %s', (_, scrape) => expect(promtoolProblems(scrape)).toHaveLength(1))

// What `promtool check metrics` would say: its rules for names, types, labels and help texts, on the text of a scrape.

const UNITS_NOT_BASE =
  /(?:^|_)(?:milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|weeks?|kilobytes?|megabytes?|gigabytes?|bits?|percent|celsius_degrees|fahrenheit)(?:_|$)/
const UNITS_SHORT = /(?:^|_)(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|m|h|d)(?:_|$)/

interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: ReadonlySet<string>
}

export function promtoolProblems(scrape: string): string[] {
  return familiesOf(scrape).flatMap((family) => [...rulesOn(family)].map((problem) => `${family.name} ${problem}`))
}

function* rulesOn({ name, type, help, labels }: Family): Generator<string> {
  const isDistribution = type === 'histogram' || type === 'summary'
  if (help === '') yield 'no help text'
  if (type === '') yield 'no type'
  if (type === 'counter' && !name.endsWith('_total')) yield "counter metrics should have '_total' suffix"
  if (type !== 'counter' && name.endsWith('_total')) yield "non-counter metrics should not have '_total' suffix"
  if (!isDistribution && /_(?:count|sum|bucket)$/.test(name)) yield 'has a suffix of histograms'
  if (type !== 'histogram' && labels.has('le')) yield "non-histogram metrics should not have 'le' label"
  if (type !== 'summary' && labels.has('quantile')) yield "non-summary metrics should not have 'quantile' label"
  if (`${name}_`.includes(`_${type}_`)) yield 'should not include its type in its name'
  if (UNITS_NOT_BASE.test(name)) yield 'should use a base unit'
  if (UNITS_SHORT.test(name)) yield 'should not contain abbreviated units'
  if (name.includes(':')) yield "should not contain ':'"
  if ([name, ...labels].some((text) => /[a-z][A-Z]/.test(text))) yield "names should be written in 'snake_case'"
}

function familiesOf(scrape: string): Family[] {
  const found = new Map<string, { name: string; type: string; help: string; labels: Set<string> }>()
  const family = (name: string) => {
    const known = found.get(name) ?? { name, type: '', help: '', labels: new Set<string>() }
    found.set(name, known)
    return known
  }
  for (const line of scrape.split('\n').filter((text) => text !== '')) {
    const [, about, described = '', text = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (about === 'HELP') family(described).help = text
    else if (about === 'TYPE') family(described).type = text
    else {
      const [, sample = '', labels = ''] = /^([\w:]+)(?:\{(.*)\})? /.exec(line) ?? []
      const { labels: seen } = family(found.has(sample) ? sample : sample.replace(/_(?:bucket|sum|count)$/, ''))
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) seen.add(label)
    }
  }
  return [...found.values()]
}

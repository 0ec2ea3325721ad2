// reprise inspect: holds the store against itself, and repairs what does not fit if it is told to (B11).

import { type Finding, subjectText } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { given } from '../command/options.ts'
import { REASON, reasonOf, YES } from '../command/shared-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

export const inspect: CommandDefinition = {
  path: ['inspect'],
  group: 'Operate',
  summary: 'Recount the store, and find and repair drift',
  details:
    'Compares queues, the delay queue, leases, keys, dead letters and counts with the records of tasks, and says what does not fit. Changes nothing unless --reconcile is given: then it repairs what it finds, and removes duplicates. Exit code 1 if something was found and is not repaired.',
  options: [
    { flags: '--reconcile', about: 'Repair what is found' },
    { flags: '--step <count>', about: 'Look at this many at a time; 1000 if not given' },
    REASON,
    YES,
  ],
  examples: [
    { command: 'reprise inspect', says: 'Does everything fit?' },
    { command: 'reprise inspect --reconcile --yes', says: 'Set it right' },
    { command: "reprise inspect -o json | jq '.findings | length'", says: 'For a program' },
  ],
  run: look,
}

/** As B11 calls it. */
export const retryInspect: CommandDefinition = {
  ...inspect,
  path: ['retry-inspect'],
  summary: 'The same as inspect',
  examples: [{ command: 'reprise retry-inspect --reconcile --yes', says: 'The same as reprise inspect' }],
}

const STEP_MAX = 1_000

async function look(invocation: Invocation): Promise<ExitCode> {
  const { options, output } = invocation
  const repair = options.flag('reconcile')
  const limit = options.whole('step', 1, STEP_MAX)
  if (repair && !(await invocation.confirm('Repair whatever does not fit in the store?'))) return EXIT.error
  const { findings, checked, unchecked } = await wholeInspection(invocation, { repair, ...given({ limit }) })
  const left = findings.filter(({ repaired }) => !repaired)
  const repaired = findings.length - left.length
  if (output.format === 'jsonl') for (const finding of findings) output.event(finding, () => undefined)
  else {
    output.one({ checked, findings, unchecked, repaired, next: null }, ({ line, table }) => {
      if (findings.length > 0) {
        table(findings, [
          { title: 'WHAT', value: ({ kind }) => kind },
          { title: 'ABOUT', value: ({ subject }) => subjectText(subject), flexible: true },
          { title: 'FOUND', value: ({ found }) => found, flexible: true },
          { title: 'SHOULD BE', value: ({ expected }) => expected, flexible: true },
          {
            title: 'REPAIRED',
            value: ({ repaired: done }) => (done ? 'yes' : 'no'),
            style: (text) => (text === 'no' ? 'red' : 'green'),
          },
        ])
        line()
        for (const [kind, sentence] of new Map(findings.map((one) => [one.kind, one.sentence]))) {
          line(`${kind}: ${plain(sentence)}`)
        }
      }
      line(verdict(checked, findings.length, repaired))
    })
  }
  for (const sentence of unchecked) output.warn(sentence)
  if (left.length > 0 && !repair) output.note("'reprise inspect --reconcile' repairs what can be repaired.")
  return left.length === 0 ? EXIT.ok : EXIT.error
}

function verdict(checked: number, found: number, repaired: number): string {
  if (found === 0) return `Looked at ${checked} things: everything fits.`
  return `Looked at ${checked} things: ${found} ${found === 1 ? 'does' : 'do'} not fit, ${repaired} repaired.`
}

async function wholeInspection(invocation: Invocation, request: { readonly repair: boolean; readonly limit?: number }) {
  const { pages } = await import('@reprise/client')
  const client = await invocation.connect()
  const progress = invocation.output.progress('inspected')
  const findings: Finding[] = []
  const unchecked = new Set<string>()
  let checked = 0
  try {
    for await (const step of pages(client.inspect, { ...request, ...reasonOf(invocation.options) })) {
      checked += step.checked
      findings.push(...step.findings)
      for (const sentence of step.unchecked) unchecked.add(sentence)
      progress.update(checked, null, `${findings.length} found`)
    }
  } finally {
    progress.end()
  }
  return { checked, findings, unchecked: [...unchecked] }
}

// reprise inspect: holds the store against itself, and repairs what does not fit if it is told to (B11).

import { type Finding, present, subjectText } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { REASON, reasonOf, YES } from '../command/shared-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import { shortSpan } from '../output/times.ts'
import type { RetryQueues } from '../tasks/retry-queues.ts'
import { groupColumns } from '../views/overview.ts'

export const inspect: CommandDefinition = {
  path: ['inspect'],
  group: 'Operate',
  summary: 'Recount the store, and find and repair drift',
  details:
    'Compares queues, the delay queue, leases, keys, dead letters and counts with the records of tasks, and lists the differences. It changes nothing without --reconcile. With it, it repairs what it finds, and removes duplicates. Exit code 1 if a difference is left.',
  options: [
    { flags: '--reconcile', about: 'Repair what is found' },
    { flags: '--step <count>', about: 'Look at this many at a time; 1000 if not given' },
    REASON,
    YES,
  ],
  examples: [
    ['reprise inspect', 'Does everything fit?'],
    ['reprise inspect --reconcile --yes', 'Set it right'],
    ["reprise inspect -o json | jq '.findings | length'", 'For a program'],
  ],
  run: (invocation) => look(invocation),
}

/** As B11 calls it. */
export const retryInspect: CommandDefinition = {
  ...inspect,
  path: ['retry-inspect'],
  summary: 'Show the delay queue and the dead letters, then inspect',
  details:
    'Shows what waits in the delay queue, by reason and with the time when the next task is due, and the dead letters by cause with their ages. Then it does what inspect does: it changes nothing unless --reconcile is given.',
  examples: [
    ['reprise retry-inspect', 'What waits, what died, and does everything fit?'],
    ['reprise retry-inspect --reconcile --yes', 'Look, then set it right'],
    ["reprise retry-inspect -o json | jq '.delayQueue.reasons'", 'For a program'],
  ],
  run: async (invocation) => {
    const { retryQueues } = await import('../tasks/retry-queues.ts')
    return look(invocation, await retryQueues(invocation))
  },
}

const STEP_MAX = 1_000

async function look(invocation: Invocation, queues: RetryQueues | null = null): Promise<ExitCode> {
  const { options, output } = invocation
  const repair = options.flag('reconcile')
  const limit = options.whole('step', 1, STEP_MAX)
  if (queues !== null && output.format === 'jsonl') output.event(queues, () => undefined)
  if (repair && !(await invocation.confirm('Repair whatever does not fit in the store?'))) return EXIT.error
  const { findings, checked, unchecked } = await wholeInspection(invocation, { repair, ...present({ limit }) })
  const left = findings.filter(({ repaired }) => !repaired)
  const repaired = findings.length - left.length
  if (output.format === 'jsonl') for (const finding of findings) output.event(finding, () => undefined)
  else {
    output.one({ ...queues, checked, findings, unchecked, repaired, next: null }, (people) => {
      const { line, table } = people
      if (queues !== null) showQueues(people, queues, output.now())
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

function showQueues({ line, table }: People, { delayQueue, deadLetters }: RetryQueues, now: number): void {
  // Others than those that were looked at may be due earlier.
  const which = delayQueue.isPartial ? 'the next of the newest' : 'the next'
  const next = delayQueue.nextDueAt === null ? '' : `, ${which} is due ${dueText(delayQueue.nextDueAt, now)}`
  line(`Delay queue: ${delayQueue.tasks} waiting${next}.`)
  if (delayQueue.reasons.length > 0) {
    table(delayQueue.reasons, [
      { title: 'REASON', value: ({ reason }) => reason },
      { title: 'TASKS', value: ({ tasks }) => tasks, right: true },
      { title: 'NEXT DUE', value: ({ nextDueAt }) => dueText(nextDueAt, now), right: true },
    ])
  }
  if (delayQueue.isPartial) line('Only the newest of them were looked at.')
  line()
  line(`Dead letters: ${deadLetters.tasks}.`)
  if (deadLetters.groups.length > 0) table(deadLetters.groups, groupColumns(now))
  // Some are there and none is shown: the caller may not see causes, or they are switched off.
  const hidesCauses = deadLetters.isPartial && deadLetters.groups.length === 0
  if (hidesCauses) line("Their causes are not shown: 'reprise groups' says why.")
  else if (deadLetters.isPartial) line("'reprise groups' shows more.")
  line()
}

const dueText = (at: number, now: number): string => (at <= now ? 'now' : `in ${shortSpan(at - now)}`)

function verdict(checked: number, found: number, repaired: number): string {
  if (found === 0) return `Looked at ${checked} things: everything fits.`
  return `Looked at ${checked} things: ${found} ${found === 1 ? 'does' : 'do'} not fit, ${repaired} repaired.`
}

async function wholeInspection(invocation: Invocation, request: { readonly repair: boolean; readonly limit?: number }) {
  const { pages } = await import('@reprise/client')
  const progress = invocation.output.progress('inspected')
  const findings: Finding[] = []
  const unchecked = new Set<string>()
  let checked = 0
  try {
    for await (const step of pages(invocation.api.inspect, { ...request, ...reasonOf(invocation.options) })) {
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

// A run of a runbook for people: how far each step is, and what it asks, with the command that answers.

import type { OperationOutput } from '@reprise/client'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'

export type Run = OperationOutput<'getRunbookRun'>
type Step = Run['steps'][number]
type Question = NonNullable<Run['question']>

export const stepText = ({ title, state, error, output }: Step): string => {
  const would =
    typeof output === 'object' && output !== null && 'would' in output ? `: would ${String(output.would)}` : ''
  return `${state.padEnd(8)} ${title}${error === null ? would : `: ${error}`}`
}

export function tellRun(run: Run, { line, prose, fields }: People, now: number): void {
  fields([
    ['run', run.id],
    ['runbook', `${run.runbook} ${run.version === 0 ? '(built in)' : `version ${run.version}`}`],
    ['state', `${run.state}${run.isDryRun ? ' (dry run)' : ''}`],
    ['by', `${plain(run.actor)}, ${relativeTime(run.createdAt, now)}`],
    ['why', plain(run.reason)],
    ['agreed', run.approvedBy === null ? null : plain(run.approvedBy)],
  ])
  line()
  for (const step of run.steps) prose(plain(stepText(step)), { indent: 2 })
  if (run.question === null) return
  line()
  prose(`It asks: ${plain(questionText(run.question))}`)
  line(`  ${plain(answerCommand(run.id, run.question))}`)
}

/** How far the redrive of a step is that is under way; null if no such step is. */
export function underWay({
  steps,
}: Run): { readonly done: number; readonly total: number; readonly note: string } | null {
  const [output] = steps.flatMap((step) => (step.state === 'polling' ? [step.output] : []))
  if (typeof output !== 'object' || output === null || !('counts' in output)) return null
  const counts = output.counts as Readonly<Record<string, number>> | null
  const numbers = Object.entries(counts ?? {}).filter(([, count]) => typeof count === 'number')
  const { pending = 0, sent = 0, recovered = 0, failed = 0 } = Object.fromEntries(numbers)
  const total = numbers.reduce((sum, [, count]) => sum + count, 0)
  return { done: total - pending - sent, total, note: `${recovered} recovered, ${failed} failed again` }
}

/** With what answers it. */
export const questionText = ({ kind, text }: Question): string =>
  `${text}${/[.?!:]$/.test(text) ? '' : '.'} ${ANSWERED_BY[kind]}`

const ANSWERED_BY: Readonly<Record<Question['kind'], string>> = {
  approval: 'Another person has to agree:',
  confirm: 'To go on:',
  doubt: 'Look whether it was done, then say so:',
}

export const answerCommand = (id: string, { kind }: Question): string =>
  `reprise runbook confirm ${id}${kind === 'doubt' ? ' happened|again' : ''}`

// A redrive as people read it: what it is about, what to expect, how far it is, and what came of it.

import type { OperationOutput } from '@reprise/client'
import { formatDuration } from '@reprise/core'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

export type Redrive = OperationOutput<'getRedrive'>
export type RedriveItem = OperationOutput<'listRedriveItems'>['items'][number]

const CAUSES_SHOWN_MAX = 5
const EVIDENCE_SHOWN_MAX = 3
const MESSAGE_LENGTH_MAX = 100

export const redriveColumns = (now: number): readonly Column<Redrive>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'DONE', value: (redrive) => `${endedOf(redrive)}/${redrive.total}` },
  { title: 'RECOVERED', value: ({ counts }) => String(counts.recovered) },
  { title: 'FAILED', value: ({ counts }) => String(counts.failed) },
  { title: 'CREATED', value: ({ createdAt }) => relativeTime(createdAt, now), below: true },
  { title: 'BY', value: ({ actor }) => actor, below: true },
  { title: 'WHICH', value: ({ selector }) => selector, flexible: true, below: true },
]

export const itemColumns: readonly Column<RedriveItem>[] = [
  { title: 'TASK', value: ({ taskId }) => taskId },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'ACTION', value: ({ action }) => action },
  { title: 'TENANT', value: ({ tenant }) => tenant },
  { title: 'NOTE', value: noteOf, flexible: true, below: true },
]

function noteOf({ again, why, problem, changes, copy }: RedriveItem): string {
  const parts = [
    again === null ? null : `failed again: ${again.message}`,
    why,
    problem,
    copy === null ? null : `as ${copy}`,
    changes === null ? null : changes.map(changeText).join('; '),
  ]
  return parts.filter((part) => part !== null).join(' · ') || '-'
}

const changeText = ({ path, before, after }: NonNullable<RedriveItem['changes']>[number]): string =>
  `${path || '/'}: ${before === undefined ? 'nothing' : JSON.stringify(before)} → ${after === undefined ? 'nothing' : JSON.stringify(after)}`

/** Items that need nothing more. */
export const endedOf = ({ counts, total }: Pick<Redrive, 'counts' | 'total'>): number =>
  total - counts.pending - counts.sent

export const stateText = ({ state, counts }: Redrive): string =>
  `${state}: ${counts.recovered} recovered, ${counts.failed} failed again, ${counts.sent} under way, ${counts.pending} ${GIVEN_UP.has(state) ? 'not sent' : 'to go'}`

/** What is known before anything runs. */
export function tellPlan(redrive: Redrive, people: People): void {
  const { total, found, preflight, plan, selector } = redrive
  people.line(`${total} ${total === 1 ? 'dead letter' : 'dead letters'} (${plain(selector)}).`)
  people.fields([
    ['actions', counted(found.actions)],
    ['tenants', counted(found.tenants)],
    ['dead for', counted(found.ages.map(({ name, count }) => ({ name: AGE_WORDS[name] ?? `under ${name}`, count })))],
    ['stages', plan.canary.length === 0 ? 'all at once' : [...plan.canary, 'the rest'].join(' → ')],
    ['limits', limitsText(plan)],
    ...(plan.patch === null ? [] : [['patch', JSON.stringify(plan.patch).slice(0, MESSAGE_LENGTH_MAX)] as const]),
    ['takes about', durationText(preflight?.estimatedMs ?? null)],
  ])
  tellCauses('They died of', found.causes, people)
  for (const warning of preflight?.warnings ?? []) people.beside('warning: ', plain(warning))
  if (plan.patch === null || total === 0) return
  people.line('What the patch changes in each payload:')
  people.line(`  reprise redrive show ${redrive.id} --items`)
}

const AGE_WORDS: Readonly<Record<string, string>> = { older: 'longer' }

const counted = (items: readonly { readonly name: string; readonly count: number }[]): string =>
  items.map(({ name, count }) => `${plain(name)} ${count}`).join(', ') || '-'

function limitsText({ ratePerS, concurrency, pace, fixedIn }: Redrive['plan']): string {
  const limits = [
    ratePerS === null ? null : `${ratePerS} per second`,
    concurrency === null ? null : `${concurrency} at once`,
    pace === 'breaker' ? 'as fast as the breakers let through' : null,
    fixedIn === null ? null : `only on version ${plain(fixedIn)} or newer`,
  ]
  return limits.filter((limit) => limit !== null).join(', ') || 'none'
}

const durationText = (ms: number | null): string =>
  ms === null ? 'nobody knows yet' : formatDuration(Math.max(1, Math.round(ms / 1_000)) * 1_000)

function tellCauses(head: string, causes: Redrive['again'], people: People): void {
  if (causes.length === 0) return
  people.line(`${head}:`)
  for (const { count, action, message } of causes.slice(0, CAUSES_SHOWN_MAX)) {
    people.beside(`  ${count} of ${plain(action)}: `, plain(message.slice(0, MESSAGE_LENGTH_MAX)))
  }
  if (causes.length > CAUSES_SHOWN_MAX) people.line(`  and ${causes.length - CAUSES_SHOWN_MAX} more causes`)
}

const GIVEN_UP: ReadonlySet<Redrive['state']> = new Set(['aborting', 'aborted', 'undoing', 'undone'])

/** How far it is, and why it stands where it does. */
export function tellProgress(redrive: Redrive, people: People): void {
  const { stages, halt, held, again, counts, state, isMoved } = redrive
  people.line(`Redrive ${redrive.id} is ${people.paint(state === 'halted' ? 'red' : 'bold', state)}.`)
  people.fields([
    ['recovered', counts.recovered],
    ['failed again', counts.failed],
    ['skipped', counts.skipped],
    ['undone', counts.undone],
    ['ended otherwise', counts.ended],
    ['under way', counts.sent],
    [GIVEN_UP.has(state) ? 'not sent' : 'to go', counts.pending],
  ])
  if (stages.length > 0) {
    people.table(stages, [
      { title: 'STAGE', value: ({ size }) => (size === null ? 'rest' : String(size)) },
      { title: 'SENT', value: ({ sent }) => String(sent) },
      { title: 'RECOVERED', value: ({ recovered }) => String(recovered) },
      { title: 'FAILED', value: ({ failed }) => String(failed) },
      { title: 'OF THE SAME CAUSE', value: ({ same }) => String(same) },
    ])
  }
  if (halt !== null) {
    people.beside('halted: ', plain(halt.sentence))
    for (const { taskId, message } of halt.evidence.slice(0, EVIDENCE_SHOWN_MAX)) {
      people.beside(`  ${plain(taskId)}: `, plain(message))
    }
    if (state === 'halted') {
      people.line('Go on with it, or give it up with abort or undo:')
      people.line(`  reprise redrive resume ${redrive.id} --reason '…'`)
    }
  }
  if (held !== null) people.beside('held: ', plain(held))
  if (state === 'running' && !isMoved) people.line('No orchestrator moves it yet: one must run.')
  if (state === 'ready') people.line(`To start it: reprise redrive start ${redrive.id} --reason '…'`)
  tellCauses('Failed again because', again, people)
}

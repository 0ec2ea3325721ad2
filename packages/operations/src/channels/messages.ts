// What channels are told, in the words of each protocol: PagerDuty's Events API v2, Slack's blocks, an e-mail, and templates of one's
// own; and what an outside system is told of a work order. Pure: the same notice gives the same message, so that a repeated send is the same again.

import type { FailureGroup, Severity, WorkOrder } from '@reprise/core'
import type { Redact } from '../events/event.ts'

/** What an entry `alert.told` says. */
export interface AlertNotice {
  readonly alert: string
  readonly episode: number
  readonly rule: string
  readonly what: 'firing' | 'acknowledged' | 'resolved'
  /** Counts what this channel was told in this episode. */
  readonly count: number
  readonly notice: string
  readonly severity: Severity
  readonly says: string
  readonly value: number
  readonly firedAt: number | null
  readonly runbook: string | null
  readonly action?: string
  readonly fingerprint?: string
  readonly workOrder?: string
  readonly breaker?: string
  readonly pool?: string
  readonly ofTenant?: string
}

/** Where the console is; null if that is not known. */
export type ConsoleUrl = string | null

const PAGERDUTY_ACTIONS = { firing: 'trigger', acknowledged: 'acknowledge', resolved: 'resolve' } as const
const PAGERDUTY_SEVERITIES = { low: 'info', normal: 'warning', high: 'error', critical: 'critical' } as const

/** The dedup key is the alert: a trigger that is sent twice is one incident. */
export function pagerDutyEvent(notice: AlertNotice, routingKey: string, console: ConsoleUrl): object {
  const { alert, what, severity, says, rule, action, firedAt } = notice
  const about = { routing_key: routingKey, event_action: PAGERDUTY_ACTIONS[what], dedup_key: alert }
  if (what !== 'firing') return about
  return {
    ...about,
    client: 'Reprise',
    ...(console === null ? {} : { client_url: console }),
    links: linksOf(notice, console).map(({ text, url }) => ({ href: url, text })),
    payload: {
      summary: says.slice(0, 1_024),
      source: 'reprise',
      severity: PAGERDUTY_SEVERITIES[severity],
      ...(firedAt === null ? {} : { timestamp: new Date(firedAt).toISOString() }),
      class: rule,
      ...(action === undefined ? {} : { component: action }),
      custom_details: factsOf(notice),
    },
  }
}

const SLACK_HEADER_MAX = 150

/** Buttons are links: nobody has to let Slack call back. */
export function slackMessage(notice: AlertNotice, console: ConsoleUrl): object {
  const { says } = notice
  const facts = Object.entries(factsOf(notice)).filter(([name]) => name !== 'says')
  const links = linksOf(notice, console)
  return {
    text: `${titleOf(notice)}: ${slackText(says)}`,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: titleOf(notice).slice(0, SLACK_HEADER_MAX) } },
      { type: 'section', text: { type: 'mrkdwn', text: slackText(says) } },
      {
        type: 'context',
        elements: facts
          .slice(0, 10)
          .map(([name, value]) => ({ type: 'mrkdwn', text: `*${name}* ${slackText(String(value))}` })),
      },
      ...(links.length === 0
        ? []
        : [
            {
              type: 'actions',
              elements: links.map(({ text, url }) => ({ type: 'button', text: { type: 'plain_text', text }, url })),
            },
          ]),
    ],
  }
}

/** As Slack asks for: nothing that somebody wrote into an error becomes a mention or a link. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function emailMessage(
  notice: AlertNotice,
  console: ConsoleUrl,
): { readonly subject: string; readonly text: string } {
  const facts = Object.entries(factsOf(notice)).map(([name, value]) => `${name}: ${String(value)}`)
  const links = linksOf(notice, console).map(({ text, url }) => `${text}: ${url}`)
  const subject = oneLine(`[Reprise] ${titleOf(notice)}: ${notice.says}`).slice(0, 200)
  return { subject, text: `${notice.says}\n\n${[...facts, ...links].join('\n')}\n` }
}

const WORDS = { firing: 'FIRING', acknowledged: 'ACKNOWLEDGED', resolved: 'RESOLVED' } as const

function titleOf({ what, count, severity, rule }: AlertNotice): string {
  const again = what === 'firing' && count > 1 ? ' (still)' : ''
  return `${WORDS[what]}${again} ${severity}: ${rule}`
}

interface Link {
  readonly text: string
  readonly url: string
}

function linksOf({ fingerprint, runbook }: AlertNotice, console: ConsoleUrl): readonly Link[] {
  const isAddress = runbook !== null && /^https?:\/\//.test(runbook) && URL.canParse(runbook)
  return [
    ...(console === null || fingerprint === undefined
      ? []
      : [{ text: 'Open the cause', url: `${console}/failures/${encodeURIComponent(fingerprint)}` }]),
    ...(console === null ? [] : [{ text: 'Open Reprise', url: `${console}/` }]),
    ...(isAddress ? [{ text: 'Runbook', url: runbook }] : []),
  ]
}

/** What is known, flat: for people and for templates. */
export type Facts = Readonly<Record<string, string | number>>

export function factsOf(notice: AlertNotice): Facts {
  const { what, severity, rule, says, alert, action, workOrder, fingerprint, breaker, pool, ofTenant, runbook } = notice
  const { value, firedAt } = notice
  const facts = {
    says,
    what,
    severity,
    rule,
    alert,
    action,
    workOrder,
    fingerprint,
    breaker,
    pool,
    tenant: ofTenant,
    runbook: runbook ?? undefined,
    value,
    since: firedAt === null ? undefined : new Date(firedAt).toISOString(),
  }
  return known(facts)
}

const known = (facts: Readonly<Record<string, string | number | undefined>>): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as Facts

const MESSAGE_MAX = 1_000

/** What a task says of its failure can not look like a line of ours. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Of a work order, with the newest failure of its cause if that is known. */
export function workOrderFacts(
  order: WorkOrder,
  group: Pick<FailureGroup, 'count' | 'sample'> | undefined,
  { console, redact }: { readonly console: ConsoleUrl; readonly redact: Redact },
): Facts {
  const { id, subject, action, state, severity, owner, runbook, dueAt, openedAt } = order
  const error = group === undefined ? undefined : String(redact(group.sample.message)).slice(0, MESSAGE_MAX)
  const code = group === undefined ? undefined : oneLine(String(redact(group.sample.code)))
  const what = code === undefined ? '' : `: ${code}`
  const dead = group?.count ?? order.tasks.length
  return known({
    key: id,
    title: `${action}: ${subject.kind === 'task' ? `task ${subject.taskId}` : `${dead} ${dead === 1 ? 'task' : 'tasks'}`} died${what}`,
    status: state.status,
    since: state.since,
    severity,
    action,
    fingerprint: subject.fingerprint,
    task: subject.kind === 'task' ? subject.taskId : undefined,
    tenant: subject.kind === 'task' ? subject.tenant : undefined,
    dead,
    code,
    error,
    owner: owner ?? undefined,
    runbook: runbook ?? undefined,
    result: 'result' in state ? String(redact(state.result)) : undefined,
    openedAt: new Date(openedAt).toISOString(),
    dueAt: dueAt === null ? undefined : new Date(dueAt).toISOString(),
    link: console === null ? undefined : `${console}/work-orders/${encodeURIComponent(id)}`,
  })
}

/** What makes a ticket, if there is no template: facts, the tasks that died last, and what is known about the failure. */
export const workOrderBody = ({ tasks }: WorkOrder, facts: Facts, context: object | null): object => ({
  ...facts,
  tasks,
  ...(context === null ? {} : { context }),
})

const DEPTH_MAX = 20
/** Of what all facts of one message add to its template: the rest of them is left out. */
const FILLED_LENGTH_MAX = 1_000_000

/** A template with its names filled in: only inside of its texts, so that no value can change its shape. Unknown names are empty. */
export function filled(template: unknown, facts: Facts): unknown {
  let room = FILLED_LENGTH_MAX
  const fact = (name: string): string => {
    const text = Object.hasOwn(facts, name) ? String(facts[name]).slice(0, room).toWellFormed() : ''
    room -= text.length
    return text
  }
  const fill = (value: unknown, depth: number): unknown => {
    if (depth > DEPTH_MAX) return null
    if (typeof value === 'string') return value.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => fact(name))
    if (Array.isArray(value)) return value.map((item) => fill(item, depth + 1))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, depth + 1)]))
  }
  return fill(template, 0)
}

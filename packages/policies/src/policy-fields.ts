// What a policy can set, field by field, from YAML: for the policies of the file and for those of packs.

import {
  BACKOFF_KINDS,
  type Backoff,
  type BreakerSettings,
  checkedBackoff,
  DEFAULT_BACKOFF,
  DEFAULT_BREAKER,
  type Escalation,
  type FailureReason,
  FINAL_REASONS,
  LOSSES_MAX,
  LOST_MEANINGS,
  Pattern,
  RETRIABLE_REASONS,
  RETRIES_MAX,
  RETRY_AFTER_MS_MAX,
  type RetryAfterBounds,
  type RetryQuota,
  RULES_MAX,
  type Rule,
  resolveBreaker,
  resolveQuota,
  SEVERITIES,
  statusRange,
} from '@reprise/core'
import type { Fields, Place } from './place.ts'
import { type PolicySettings, TEMPLATE_NAMES, TEMPLATES } from './templates.ts'

/** The names of a policy's fields in a file. */
export const POLICY_FIELDS = [
  'template',
  'retries',
  'losses_max',
  'backoff',
  'retry_unknown',
  'rules',
  'sla',
  'quota',
  'breaker',
  'on_lost',
  'retry_after',
  'escalation',
] as const
type PolicyField = (typeof POLICY_FIELDS)[number]

const REASONS: readonly FailureReason[] = [...RETRIABLE_REASONS, ...FINAL_REASONS]
export const NAMES_MAX = 100

/** What these fields set, on top of the template if one is named. `name` is for a quota that has none. */
export function readPolicySettings(fields: Fields<PolicyField>, name: string): PolicySettings {
  const template = fields.get('template', (place) => place.oneOf(TEMPLATE_NAMES))
  const set = {
    retries: fields.get('retries', (place) => place.whole(0, RETRIES_MAX)),
    lossesMax: fields.get('losses_max', (place) => place.whole(0, LOSSES_MAX)),
    backoff: fields.get('backoff', readBackoff),
    retryUnknown: fields.get('retry_unknown', (place) => place.flag()),
    rules: fields.get('rules', readRules),
    slaMs: fields.get('sla', (place) => place.durationMs(1)),
    quota: fields.get('quota', (place) => readQuota(place, name)),
    breaker: fields.get('breaker', readBreaker),
    onLost: fields.get('on_lost', (place) => place.oneOf(LOST_MEANINGS)),
    retryAfter: fields.get('retry_after', readRetryAfter),
    escalation: fields.get('escalation', readEscalation),
  }
  return { ...(template === undefined ? {} : TEMPLATES[template]), ...withoutUndefined(set) }
}

type Complete<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** A field that is not set is not there: it would hide what the template says. */
export function withoutUndefined<T extends object>(given: T): Complete<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Complete<T>
}

export function readRules(place: Place): readonly Rule[] | undefined {
  return place.list(RULES_MAX, readRule)
}

function readRule(place: Place): Rule | undefined {
  const fields = place.fields(['name', 'when', 'then'], 'a rule')
  if (fields === undefined) return undefined
  const name = fields.get('name', (at) => at.text(100))
  const when = fields.required('when', readCondition)
  const verdict = fields.required('then', readVerdict)
  if (when === undefined || verdict === undefined) return undefined
  return { ...(name === undefined ? {} : { name }), when, verdict }
}

function readCondition(place: Place): Rule['when'] | undefined {
  const fields = place.fields(['code', 'status', 'message', 'name', 'reason'], 'a condition')
  if (fields === undefined) return undefined
  const when = withoutUndefined({
    code: fields.get('code', (at) => at.texts(NAMES_MAX)),
    status: fields.get('status', (at) => at.texts(NAMES_MAX, readStatus)),
    message: fields.get('message', readPattern),
    name: fields.get('name', (at) => at.texts(NAMES_MAX)),
    reason: fields.get('reason', readReasons),
  })
  if (!fields.hasAny) return place.problem('A rule without any condition would hold for everything.')
  return when
}

function readStatus(place: Place): string | undefined {
  const text = place.plain()
  if (text === undefined) return undefined
  return place.checked(() => statusRange(text)) === undefined ? undefined : text
}

function readPattern(place: Place): string | undefined {
  const source = place.text(500)
  if (source === undefined) return undefined
  return place.checked(() => new Pattern(source))?.source
}

function readReasons(place: Place): readonly FailureReason[] | undefined {
  if (place.isList) return place.list(REASONS.length, (item) => item.oneOf(REASONS))
  const only = place.oneOf(REASONS)
  return only === undefined ? undefined : [only]
}

function readVerdict(place: Place): Rule['verdict'] | undefined {
  const fields = place.fields(['reason', 'retriable'], 'a verdict')
  const reason = fields?.required('reason', (at) => at.oneOf(REASONS))
  const retriable = fields?.get('retriable', (at) => at.flag())
  if (reason === undefined) return undefined
  return { reason, ...(retriable === undefined ? {} : { retriable }) }
}

const FIELDS_BY_KIND: Readonly<Record<Backoff['kind'], readonly BackoffField[]>> = {
  fixed: ['kind', 'delay', 'jitter'],
  linear: ['kind', 'step', 'max', 'jitter'],
  exponential: ['kind', 'base', 'multiplier', 'max', 'jitter'],
  decorrelated: ['kind', 'base', 'max'],
  schedule: ['kind', 'delays', 'jitter'],
}
const BACKOFF_FIELDS = ['kind', 'delay', 'step', 'base', 'multiplier', 'max', 'delays', 'jitter'] as const
type BackoffField = (typeof BACKOFF_FIELDS)[number]

function readBackoff(place: Place): Backoff | undefined {
  const all = place.fields(BACKOFF_FIELDS, 'a backoff')
  if (all === undefined) return undefined
  const kind = all.has('kind') ? all.get('kind', (at) => at.oneOf(BACKOFF_KINDS)) : 'exponential'
  if (kind === undefined) return undefined
  for (const name of BACKOFF_FIELDS) {
    if (FIELDS_BY_KIND[kind].includes(name)) continue
    all.get(name, (at) =>
      at.problem(`A backoff of kind ${kind} has no such field. It has: ${FIELDS_BY_KIND[kind].join(', ')}.`),
    )
  }
  const jitter = all.get('jitter', (at) => at.number(0, 1)) ?? DEFAULT_BACKOFF.jitter
  const ms = (name: 'base' | 'max', fallbackMs: number): number => all.get(name, (at) => at.durationMs()) ?? fallbackMs
  const maxMs = ms('max', DEFAULT_BACKOFF.maxMs)
  switch (kind) {
    case 'fixed': {
      const delayMs = all.required('delay', (at) => at.durationMs())
      return delayMs === undefined ? undefined : { kind, delayMs, jitter }
    }
    case 'linear': {
      const stepMs = all.required('step', (at) => at.durationMs())
      return stepMs === undefined ? undefined : { kind, stepMs, maxMs, jitter }
    }
    case 'exponential': {
      const multiplier = all.get('multiplier', (at) => at.number(1, 1_000)) ?? DEFAULT_BACKOFF.multiplier
      return { kind, baseMs: ms('base', DEFAULT_BACKOFF.baseMs), multiplier, maxMs, jitter }
    }
    case 'decorrelated':
      return { kind, baseMs: ms('base', DEFAULT_BACKOFF.baseMs), maxMs }
    case 'schedule': {
      const delaysMs = all.required('delays', (at) => at.list(1_000, (item) => item.durationMs()))
      return delaysMs === undefined ? undefined : place.checked(() => checkedBackoff({ kind, delaysMs, jitter }))
    }
  }
}

function readQuota(place: Place, defaultName: string): RetryQuota | undefined {
  const fields = place.fields(['name', 'window', 'limit', 'share'], 'a quota')
  if (fields === undefined) return undefined
  const window = fields.required('window', (at) => at.durationMs(1_000, 86_400_000))
  const rest = withoutUndefined({
    name: fields.get('name', (at) => at.text()),
    limit: fields.get('limit', (at) => at.whole(1, 1_000_000)),
    share: fields.get('share', (at) => at.number(0, 1)),
  })
  if (window === undefined) return undefined
  return place.checked(() => resolveQuota({ window, ...rest }, defaultName))
}

function readBreaker(place: Place): BreakerSettings | 'off' | undefined {
  if (!place.isMap) {
    const word = place.oneOf(['on', 'off'])
    return word === 'on' ? DEFAULT_BREAKER : word
  }
  const fields = place.fields(
    ['window', 'failures_min', 'failure_rate', 'open', 'open_max', 'probes', 'ramp_max'],
    'a breaker',
  )
  if (fields === undefined) return undefined
  const given = withoutUndefined({
    window: fields.get('window', (at) => at.durationMs(100, 86_400_000)),
    failuresMin: fields.get('failures_min', (at) => at.whole(1, 1_000_000)),
    failureRate: fields.get('failure_rate', (at) => at.number(0, 1)),
    open: fields.get('open', (at) => at.durationMs(1, 86_400_000)),
    openMax: fields.get('open_max', (at) => at.durationMs(1, 86_400_000)),
    probes: fields.get('probes', (at) => at.whole(1, 1_000)),
    rampMax: fields.get('ramp_max', (at) => at.whole(1, 1_000_000)),
  })
  return place.checked(() => resolveBreaker(given))
}

function readRetryAfter(place: Place): RetryAfterBounds | undefined {
  const fields = place.fields(['min', 'max'], 'bounds')
  if (fields === undefined) return undefined
  const minMs = fields.get('min', (at) => at.durationMs(0, RETRY_AFTER_MS_MAX)) ?? 0
  const maxMs = fields.get('max', (at) => at.durationMs(0, RETRY_AFTER_MS_MAX)) ?? RETRY_AFTER_MS_MAX
  return minMs <= maxMs ? { minMs, maxMs } : place.problem("'min' is longer than 'max'.")
}

function readEscalation(place: Place): Escalation | undefined {
  const fields = place.fields(['severity', 'owner', 'runbook'], 'an escalation')
  if (fields === undefined) return undefined
  const severity = fields.has('severity') ? fields.get('severity', (at) => at.oneOf(SEVERITIES)) : 'normal'
  const owner = fields.get('owner', (at) => at.text())
  const runbook = fields.get('runbook', (at) => at.text())
  return severity === undefined ? undefined : { severity, ...withoutUndefined({ owner, runbook }) }
}

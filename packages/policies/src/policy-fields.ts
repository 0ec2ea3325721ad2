// What a policy can set, field by field, from YAML: for the policies of the file and for those of packs.

import {
  BACKOFF_KINDS,
  type Backoff,
  checkedBackoff,
  DEFAULT_BACKOFF,
  DEFAULT_BREAKER,
  FINAL_REASONS,
  LOSSES_MAX,
  LOST_MEANINGS,
  patternOf,
  RETRIABLE_REASONS,
  RETRIES_MAX,
  RETRY_AFTER_MS_MAX,
  RULES_MAX,
  RULES_STAMP,
  resolveBreaker,
  resolveQuota,
  SEVERITIES,
  statusRange,
  WORK_ORDER_PER,
} from '@reprise/core'
import { z } from 'zod'
import {
  dependingOn,
  duration,
  fields,
  flag,
  isMap,
  list,
  made,
  mustBe,
  numberIn,
  oneOf,
  oneOrMore,
  optional,
  text,
  whole,
} from './fields.ts'
import { type PolicySettings, TEMPLATE_NAMES, TEMPLATES } from './templates.ts'

const NAMES_MAX = 100
const DAY_MS = 86_400_000

export const names = oneOrMore(NAMES_MAX, text())
const reason = oneOf([...RETRIABLE_REASONS, ...FINAL_REASONS])
const pattern = text(500).transform(made((source) => patternOf(source).source))
const status = z
  .union([z.string(), z.number()], { error: ({ input }) => mustBe('a text or a number', input) })
  .transform(
    made((given) => {
      statusRange(String(given))
      return String(given)
    }),
  )

const condition = fields(
  'a condition',
  optional({
    code: names,
    status: oneOrMore(NAMES_MAX, status),
    message: pattern,
    name: names,
    reason: oneOrMore(NAMES_MAX, reason),
  }),
).refine((given) => Object.keys(given).length > 0, 'A rule without any condition would hold for everything.')

const verdict = fields('a verdict', { reason, ...optional({ retriable: flag() }) })
const rule = fields('a rule', {
  ...optional({ name: text(100) }),
  when: condition,
  // biome-ignore lint/suspicious/noThenProperty: the field is called so in the file; it is renamed at once.
  then: verdict, // oxlint-disable-line unicorn/no-thenable
})
export const rules = list(
  RULES_MAX,
  rule.transform(({ then, ...given }) => ({ ...given, verdict: then })),
)

const jitter = numberIn(0, 1).default(DEFAULT_BACKOFF.jitter)
const multiplier = numberIn(1, 1_000).default(DEFAULT_BACKOFF.multiplier)
const base = duration().default(DEFAULT_BACKOFF.baseMs)
const max = duration().default(DEFAULT_BACKOFF.maxMs)

const BACKOFFS: Readonly<Record<Backoff['kind'], z.ZodType<Backoff>>> = {
  fixed: backoffOf('fixed', { delay: duration(), jitter }),
  linear: backoffOf('linear', { step: duration(), max, jitter }),
  exponential: backoffOf('exponential', { base, multiplier, max, jitter }),
  decorrelated: backoffOf('decorrelated', { base, max }),
  schedule: backoffOf('schedule', { delays: list(1_000, duration()), jitter }),
}
const unknownBackoff = z.looseObject({ kind: oneOf(BACKOFF_KINDS) }).pipe(z.never())

function backoffOf(kind: Backoff['kind'], shape: z.ZodRawShape): z.ZodType<Backoff> {
  const isTime = (name: string): boolean => !['kind', 'multiplier', 'jitter'].includes(name)
  return fields(`a backoff of kind ${kind}`, { ...optional({ kind: z.unknown() }), ...shape }).transform(
    made((given) => {
      const entries = Object.entries(given).map(([name, value]) => [isTime(name) ? `${name}Ms` : name, value])
      return checkedBackoff({ ...Object.fromEntries(entries), kind } as Backoff)
    }),
  )
}

const backoff = dependingOn((given) => {
  const named = isMap(given) ? (given.kind ?? 'exponential') : 'exponential'
  const kind = BACKOFF_KINDS.find((one) => one === named)
  return kind === undefined ? unknownBackoff : BACKOFFS[kind]
})

/** One without a name gets that of the policy or pack it belongs to. */
const quota = fields('a quota', {
  window: duration(1_000, DAY_MS),
  ...optional({ name: text(), limit: whole(1, 1_000_000), share: numberIn(0, 1), all_tenants: flag() }),
}).transform(made((given) => ({ ...resolveQuota(given, '-'), name: given.name ?? null })))

const breakerSwitch = oneOf(['on', 'off']).transform((word) => (word === 'on' ? DEFAULT_BREAKER : word))
const breakerSettings = fields(
  'a breaker',
  optional({
    window: duration(100, DAY_MS),
    min_failures: whole(1, 1_000_000),
    failure_rate: numberIn(0, 1),
    open: duration(1, DAY_MS),
    max_open: duration(1, DAY_MS),
    probes: whole(1, 1_000),
    max_ramp: whole(1, 1_000_000),
  }),
).transform(made(resolveBreaker))

const bound = duration(0, RETRY_AFTER_MS_MAX)
const retryAfter = fields('bounds', { min: bound.default(0), max: bound.default(RETRY_AFTER_MS_MAX) })
  .refine(({ min, max }) => min <= max, "'min' is longer than 'max'.")
  .transform(({ min, max }) => ({ minMs: min, maxMs: max }))

const escalation = fields('an escalation', {
  severity: oneOf(SEVERITIES).default('normal'),
  ...optional({ owner: text(), runbook: text(), work_order: oneOf(WORK_ORDER_PER) }),
})

const POLICY_FIELDS = optional({
  template: oneOf(TEMPLATE_NAMES),
  retries: whole(0, RETRIES_MAX),
  retries_enabled: flag(),
  max_losses: whole(0, LOSSES_MAX),
  backoff,
  retry_unknown: flag(),
  rules,
  sla: duration(1),
  quota,
  breaker: dependingOn((given) => (isMap(given) ? breakerSettings : breakerSwitch)),
  on_lost: oneOf(LOST_MEANINGS),
  health_aware: flag(),
  retry_after: retryAfter,
  escalation,
})

export const policy = fields('a policy', {
  name: text().refine(
    (name) => name !== RULES_STAMP,
    `No policy can be named '${RULES_STAMP}': it stands for the rules of the file.`,
  ),
  match: fields('a match', optional({ actions: names, packs: names, tenants: names, codes: names })).default({}),
  ...POLICY_FIELDS,
})

// Rules, bounds and escalation don't travel with a task: they are for a policy that matches the pack.
const { rules: _, retry_after: __, escalation: ___, ...PACK_POLICY_FIELDS } = POLICY_FIELDS
export const packPolicy = fields('the policy of a pack', PACK_POLICY_FIELDS)

/** What the fields set, on top of the template if one is named. `name` is for a quota that has none. */
export function settingsOf(given: Omit<z.output<typeof policy>, 'name' | 'match'>, name: string): PolicySettings {
  const { template, sla, quota: ownQuota, retriesEnabled = true, ...rest } = given
  return {
    ...(template === undefined ? {} : TEMPLATES[template]),
    ...rest,
    // The switch (C11): the number stays in the file for when it is on again.
    ...(retriesEnabled ? {} : { retries: 0 }),
    ...(sla === undefined ? {} : { slaMs: sla }),
    ...(ownQuota === undefined ? {} : { quota: { ...ownQuota, name: ownQuota.name ?? name } }),
  }
}

// The settings that have parts: who has which role, launch pools, how long things are kept, a backoff,
// thresholds. Each is read from YAML (or
// JSON) into complete, read-only data; nothing is opened or started from it here.

import {
  actionName,
  type Backoff,
  type HealthThresholds,
  InvalidError,
  poolName,
  type RetentionOptions,
  readHealthThresholds,
  resolveBackoff,
  type TenantRules,
  tenantId,
} from '@reprise/core'
import type { SignatureVersion } from '@reprise/launchers'
import type { Role } from '@reprise/operations'
import type { DeadLetterRule } from '@reprise/orchestrator'
import {
  checked,
  duration,
  fields,
  list,
  made,
  mustBe,
  numberIn,
  oneOf,
  optional,
  text,
  whole,
  withoutNamesakes,
} from '@reprise/policies/fields'
import { tenantRules } from '@reprise/policies/tenant-fields'
import type { MonitoringThresholds } from '@reprise/telemetry'
import { z } from 'zod'
import { type CloudPool, cloudPools } from './cloud-pools.ts'
import { type Kind, splitTexts, structure, textsOf, webAddress } from './kinds.ts'

/** As the HTTP launcher has them, which is loaded only where one is started. */
const SIGNATURE_VERSIONS = ['v1', 'v2', 'v3'] as const satisfies readonly SignatureVersion[]

const ROLES_OF_PEOPLE = ['viewer', 'operator', 'admin'] as const satisfies readonly Role[]

/** Who gets the role says exactly one of: an e-mail address, its domain, a group that the issuer names, or anyone who can sign in. */
export type AccessRule = {
  readonly role: (typeof ROLES_OF_PEOPLE)[number]
  /** The only tenants they may see or touch; all if missing. */
  readonly tenants?: readonly string[]
  /** `google`, `oidc`, or the address of an issuer; may be missing if only one is configured. */
  readonly issuer?: string
} & ({ readonly email: string } | { readonly domain: string } | { readonly group: string } | { readonly anyone: true })

const SUBJECTS = ['email', 'domain', 'group', 'anyone'] as const

const textLike = (pattern: RegExp, what: string) =>
  text(1_000).regex(pattern, { error: ({ input }) => mustBe(what, input) })

const accessRule = fields('a rule of access', {
  role: oneOf(ROLES_OF_PEOPLE),
  ...optional({
    email: textLike(/^[^\s@*]+@[^\s@*]+$/, 'an e-mail address'),
    domain: textLike(/^[^\s@*/]+$/, 'what stands after the @, such as example.com'),
    group: text(1_000),
    anyone: z.literal(true, "'anyone' can only be true."),
    tenants: textsOf(tenantId),
    issuer: text(1_000),
  }),
})
  .refine(
    (given) => SUBJECTS.filter((subject) => subject in given).length === 1,
    `A rule of access says exactly one of ${SUBJECTS.join(', ')}.`,
  )
  .transform((given) => given as AccessRule)

/** In a variable: `example.com=viewer, google:group:ops=operator, ann@example.com=admin, *=viewer:acme+blue`, the last with tenants. */
export const accessRules: Kind<readonly AccessRule[]> = {
  ...structure('', list(1_000, accessRule)),
  form: 'a list of rules; in a variable `who=role`, with commas between them',
  fromText: (given) => splitTexts(given).map(shortRule),
}

function shortRule(given: string): object {
  const [, who = '', role, tenants] = /^(.+)=([a-z]+)(?::(.+))?$/.exec(given) ?? []
  if (role === undefined) {
    throw new InvalidError(mustBe('who=role, such as example.com=viewer or ann@example.com=admin', given))
  }
  const [, issuer, subject = who] = /^(google|oidc):(.+)$/.exec(who) ?? []
  const gives = {
    role,
    ...(tenants === undefined ? {} : { tenants: tenants.split('+') }),
    ...(issuer === undefined ? {} : { issuer }),
  }
  if (subject === '*') return { anyone: true, ...gives }
  if (subject.startsWith('group:')) return { group: subject.slice('group:'.length), ...gives }
  return subject.includes('@') ? { email: subject, ...gives } : { domain: subject, ...gives }
}

const byAction = <Item extends z.ZodType>(item: Item) =>
  z
    .record(z.string(), item, { error: ({ input }) => mustBe('a map, by action', input) })
    .superRefine((map, context) => {
      for (const action of Object.keys(map)) checked(context, [action], () => actionName(action))
    })

const command = fields('a command', {
  argv: textsOf(),
  ...optional({ cwd: text(1_000), env: z.record(z.string(), text(100_000)) }),
})
export type LaunchCommand = Readonly<z.output<typeof command>>

const processPool = fields('a process launcher', {
  /** Actions of packs in this pool need none: their entrypoint is the command. */
  commands: byAction(command).default({}),
  /** The program of a runtime, where it is not the runtime's name. */
  runtimes: z.record(z.string(), textsOf(), { error: ({ input }) => mustBe('a map, by runtime', input) }).default({}),
  input: oneOf(['stdin', 'file']).default('stdin'),
  kill_grace: duration().default(10_000),
  ...optional({ inherit_env: textsOf(), callback_url: webAddress.schema }),
}).transform(({ killGrace, inheritEnv = null, callbackUrl = null, ...given }) => ({
  kind: 'process' as const,
  ...given,
  inheritEnv,
  callbackUrl,
  killGraceMs: killGrace,
}))

const httpPool = fields('an HTTP launcher', {
  /** The file that holds the secret; kept out of the configuration file itself. A target may have one of its own. */
  actions: byAction(
    fields('a target', optional({ plugin_id: text(), url: webAddress.schema, secret_file: text(1_000) })),
  ).default({}),
  allow: textsOf().default([]),
  ...optional({
    secret_file: text(1_000),
    base_url: webAddress.schema,
    callback_url: webAddress.schema,
    signatures: list(SIGNATURE_VERSIONS.length, oneOf(SIGNATURE_VERSIONS)),
  }),
}).transform(({ baseUrl = null, callbackUrl = null, secretFile = null, signatures = null, ...given }) => ({
  kind: 'http' as const,
  ...given,
  baseUrl,
  callbackUrl,
  secretFile,
  signatures,
}))

interface PoolSize {
  readonly pool: string
  readonly slots: number
}
export type ProcessPool = PoolSize & Readonly<z.output<typeof processPool>>
export type HttpPool = PoolSize & Readonly<z.output<typeof httpPool>>
export type LaunchPoolSettings = ProcessPool | HttpPool | (PoolSize & CloudPool)

const LAUNCHERS = "'process', 'http', 'ecs', 'lambda', 'cloud_run' or 'kubernetes'"

const launchPool = fields('a launch pool', {
  pool: text().transform(made(poolName)),
  slots: whole(1, 10_000),
  ...optional({ process: processPool, http: httpPool, ...cloudPools }),
}).transform(({ process, http, ecs, lambda, cloudRun, kubernetes, ...rest }, context): LaunchPoolSettings => {
  const given = [process, http, ecs, lambda, cloudRun, kubernetes].filter((one) => one !== undefined)
  const [launcher, second] = given
  if (launcher !== undefined && second === undefined) return { ...rest, ...launcher }
  const message = `A launch pool has exactly one of ${LAUNCHERS}: how its workers are started.`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

export const launchPools: Kind<readonly LaunchPoolSettings[]> = structure(
  'a list of launch pools, each with pool, slots, and process, http, ecs, lambda, cloud_run or kubernetes',
  withoutNamesakes('launch pool', 'pool')(list(1_000, launchPool)),
)

/** By tenant, and `default` for all. */
export const tenantLimits: Kind<TenantRules> = structure(
  'a map by tenant, and `default` for all, of limits (bytes, backlog, submits_per_second, running)',
  tenantRules,
)

const keptFor = duration(1)

/** In milliseconds; for ever what is not named. */
export const retention: Kind<RetentionOptions & { readonly dead?: DeadLetterRule }> = structure(
  'a map of durations (succeeded, cancelled, discarded, journal, series), and dead: { after, export_to }',
  fields(
    'retention',
    optional({
      succeeded: keptFor,
      cancelled: keptFor,
      discarded: keptFor,
      journal: keptFor,
      series: keptFor,
      dead: fields('the retention of dead letters', { after: keptFor, export_to: text(1_000) }),
    }),
  ),
)

/** The defaults of C4 for what is left out. */
export const backoff: Kind<Backoff> = structure(
  'a backoff, such as { base: 2s, multiplier: 2, max: 10m, jitter: 0.2 }',
  z
    .looseObject({}, { error: ({ input }) => mustBe('a map', input) })
    .transform(made((given) => resolveBackoff({ kind: 'exponential', ...given }))),
)

/** Complete. */
export const healthThresholds: Kind<HealthThresholds> = structure(
  'a map of thresholds, such as { heartbeat_ttl: 30s, failures_unhealthy: 10 }',
  z.looseObject({}, { error: ({ input }) => mustBe('a map', input) }).transform(made(readHealthThresholds)),
)

const levels = fields('a threshold', {
  warning: numberIn(0, 1_000_000_000),
  critical: numberIn(0, 1_000_000_000),
}).refine(({ warning, critical }) => warning <= critical, "'warning' must not be above 'critical'.")

/** By figure; shares are from 0 to 1. */
export const monitoringThresholds: Kind<Partial<MonitoringThresholds>> = structure(
  'a map by figure (retry_rate, failing_share, unhealthy_share, dead_per_minute, dead, unserved, new_cause) of { warning, critical }',
  fields(
    'thresholds of the monitoring',
    optional({
      retry_rate: levels,
      failing_share: levels,
      unhealthy_share: levels,
      dead_per_minute: levels,
      dead: levels,
      unserved: levels,
      new_cause: levels,
    }),
  ),
)

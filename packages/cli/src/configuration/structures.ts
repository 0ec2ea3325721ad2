// The settings that have parts: who has which role, launch pools, and how long things are kept. Each is read from YAML (or
// JSON) into complete, read-only data; nothing is opened or started from it here.

import { actionName, InvalidError, poolName, type RetentionOptions, tenantId } from '@reprise/core'
import type { Role } from '@reprise/operations'
import {
  checked,
  duration,
  fields,
  list,
  made,
  mustBe,
  oneOf,
  optional,
  text,
  whole,
  withoutNamesakes,
} from '@reprise/policies/fields'
import { z } from 'zod'
import { type Kind, splitTexts, structure, textsOf, webAddress } from './kinds.ts'

const ROLES_OF_PEOPLE = ['viewer', 'operator', 'admin'] as const satisfies readonly Role[]

/** Who gets the role says exactly one of: an e-mail address, its domain, a group that the issuer names, or anyone who can sign in. */
export type AccessRule = {
  readonly role: (typeof ROLES_OF_PEOPLE)[number]
  /** The only tenants they may see or touch; all if missing. */
  readonly tenants?: readonly string[]
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
  }),
})
  .refine(
    (given) => SUBJECTS.filter((subject) => subject in given).length === 1,
    `A rule of access says exactly one of ${SUBJECTS.join(', ')}.`,
  )
  .transform((given) => given as AccessRule)

/** In a variable: `example.com=viewer, group:ops=operator, ann@example.com=admin, *=viewer:acme+blue`, the last with tenants. */
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
  const gives = { role, ...(tenants === undefined ? {} : { tenants: tenants.split('+') }) }
  if (who === '*') return { anyone: true, ...gives }
  if (who.startsWith('group:')) return { group: who.slice('group:'.length), ...gives }
  return who.includes('@') ? { email: who, ...gives } : { domain: who, ...gives }
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
  commands: byAction(command),
  input: oneOf(['stdin', 'file']).default('stdin'),
  kill_grace: duration().default(10_000),
  ...optional({ inherit_env: textsOf() }),
}).transform(({ killGrace, inheritEnv = null, ...given }) => ({
  kind: 'process' as const,
  ...given,
  inheritEnv,
  killGraceMs: killGrace,
}))

const httpPool = fields('an HTTP launcher', {
  actions: byAction(fields('a target', optional({ plugin_id: text(), url: webAddress.schema }))).default({}),
  /** The file that holds the secret; kept out of the configuration file itself. */
  secret_file: text(1_000),
  allow: textsOf().default([]),
  ...optional({ base_url: webAddress.schema, callback_url: webAddress.schema }),
}).transform(({ baseUrl = null, callbackUrl = null, ...given }) => ({
  kind: 'http' as const,
  ...given,
  baseUrl,
  callbackUrl,
}))

interface PoolSize {
  readonly pool: string
  readonly slots: number
}
export type ProcessPool = PoolSize & Readonly<z.output<typeof processPool>>
export type HttpPool = PoolSize & Readonly<z.output<typeof httpPool>>
export type LaunchPoolSettings = ProcessPool | HttpPool

const launchPool = fields('a launch pool', {
  pool: text().transform(made(poolName)),
  slots: whole(1, 10_000),
  ...optional({ process: processPool, http: httpPool }),
}).transform(({ process, http, ...rest }, context): LaunchPoolSettings => {
  const [launcher, second] = [process, http].filter((one) => one !== undefined)
  if (launcher !== undefined && second === undefined) return { ...rest, ...launcher }
  const message = "A launch pool has either 'process' or 'http': how its workers are started."
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

export const launchPools: Kind<readonly LaunchPoolSettings[]> = structure(
  'a list of launch pools, each with pool, slots, and process or http',
  withoutNamesakes('launch pool', 'pool')(list(1_000, launchPool)),
)

const keptFor = duration(1)

/** In milliseconds; for ever what is not named. */
export const retention: Kind<RetentionOptions> = structure(
  'a map of durations (succeeded, cancelled, discarded, journal, series)',
  fields(
    'retention',
    optional({ succeeded: keptFor, cancelled: keptFor, discarded: keptFor, journal: keptFor, series: keptFor }),
  ),
)

// The settings that have parts: who has which role, launch pools, and how long things are kept. Each is read from YAML (or
// JSON) into complete, read-only data; nothing is opened or started from it here.

import type { Role } from '@reprise/contract'
import {
  actionName,
  DURATION_MS_MAX,
  InvalidError,
  nearest,
  poolName,
  type RetentionOptions,
  tenantId,
} from '@reprise/core'
import { duration, type Kind, Misfit, misfit, oneOf, size, structure, text, texts, webAddress, whole } from './kinds.ts'

const ROLES_OF_PEOPLE = ['viewer', 'operator', 'admin'] as const satisfies readonly Role[]

/** Who gets the role says exactly one of: an e-mail address, its domain, a group that the issuer names, or anyone who can sign in. */
export type AccessRule = {
  readonly role: (typeof ROLES_OF_PEOPLE)[number]
  /** The only tenants they may see or touch; all if missing. */
  readonly tenants?: readonly string[]
} & ({ readonly email: string } | { readonly domain: string } | { readonly group: string } | { readonly anyone: true })

export interface ProcessPool {
  readonly kind: 'process'
  readonly pool: string
  readonly slots: number
  readonly commands: Readonly<Record<string, LaunchCommand>>
  readonly input: 'stdin' | 'file'
  readonly inheritEnv: readonly string[] | null
  readonly killGraceMs: number
}

export interface LaunchCommand {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface HttpPool {
  readonly kind: 'http'
  readonly pool: string
  readonly slots: number
  readonly baseUrl: string | null
  readonly actions: Readonly<Record<string, { readonly pluginId?: string; readonly url?: string }>>
  /** The file that holds the secret; kept out of the configuration file itself. */
  readonly secretFile: string
  readonly allow: readonly string[]
  readonly callbackUrl: string | null
}

export type LaunchPoolSettings = ProcessPool | HttpPool

function accessRulesOf(value: unknown): readonly AccessRule[] {
  if (!Array.isArray(value)) return misfit('a list of rules', value)
  return value.map((item: unknown, index) => inside([index], () => accessRule(item)))
}

/** In a variable: `example.com=viewer, group:ops=operator, ann@example.com=admin, *=viewer:acme+blue`, the last with tenants. */
export const accessRules: Kind<readonly AccessRule[]> = {
  form: 'a list of rules; in a variable `who=role`, with commas between them',
  fromText: (given) => accessRulesOf(texts('rules').fromText(given).map(shortRule)),
  fromValue: accessRulesOf,
  show: (value) => JSON.stringify(value),
}

function shortRule(given: string): Readonly<Record<string, unknown>> {
  const [, who = '', role, tenants] = /^(.+)=([a-z]+)(?::(.+))?$/.exec(given) ?? []
  if (role === undefined) return misfit('who=role, such as example.com=viewer or ann@example.com=admin', given)
  const gives = { role, ...(tenants === undefined ? {} : { tenants: tenants.split('+') }) }
  if (who === '*') return { anyone: true, ...gives }
  if (who.startsWith('group:')) return { group: who.slice('group:'.length), ...gives }
  return who.includes('@') ? { email: who, ...gives } : { domain: who, ...gives }
}

const SUBJECTS = ['email', 'domain', 'group', 'anyone'] as const

function accessRule(value: unknown): AccessRule {
  const fields = parts(value, ['role', ...SUBJECTS, 'tenants'], 'a rule of access')
  const role = required(fields, 'role', (given) => oneOf(ROLES_OF_PEOPLE).fromValue(given))
  const tenants = part(fields, 'tenants', (given) => texts('tenants', tenantId).fromValue(given))
  const rest = { role, ...(tenants === undefined ? {} : { tenants }) }
  const [subject, second] = SUBJECTS.filter((name) => name in fields)
  if (subject === undefined || second !== undefined) {
    throw new Misfit(`A rule of access says exactly one of ${SUBJECTS.join(', ')}.`)
  }
  if (subject === 'anyone') {
    if (fields.anyone !== true) throw new Misfit("'anyone' can only be true.", ['anyone'])
    return { ...rest, anyone: true }
  }
  const who = required(fields, subject, (given) => text.fromValue(given))
  if (subject === 'group') return { ...rest, group: who }
  if (subject === 'email') {
    if (!/^[^\s@*]+@[^\s@*]+$/.test(who)) misfit('an e-mail address', who, ['email'])
    return { ...rest, email: who }
  }
  if (!/^[^\s@*/]+$/.test(who)) misfit('what stands after the @, such as example.com', who, ['domain'])
  return { ...rest, domain: who }
}

export const launchPools: Kind<readonly LaunchPoolSettings[]> = structure(
  'a list of launch pools, each with pool, slots, and process or http',
  (value) => {
    if (!Array.isArray(value)) return misfit('a list of launch pools', value)
    const pools = value.map((item: unknown, index) => inside([index], () => launchPool(item)))
    const names = new Set<string>()
    for (const [index, { pool }] of pools.entries()) {
      if (names.has(pool)) throw new Misfit(`The launch pool '${pool}' stands here twice.`, [index, 'pool'])
      names.add(pool)
    }
    return pools
  },
)

function launchPool(value: unknown): LaunchPoolSettings {
  const fields = parts(value, ['pool', 'slots', 'process', 'http'], 'a launch pool')
  const pool = required(fields, 'pool', (given) => poolName(text.fromValue(given)))
  const slots = required(fields, 'slots', (given) => whole(1, 10_000).fromValue(given))
  if ('process' in fields === 'http' in fields) {
    throw new Misfit("A launch pool has either 'process' or 'http': how its workers are started.")
  }
  if ('process' in fields) return { pool, slots, ...inside(['process'], () => processPool(fields.process)) }
  return { pool, slots, ...inside(['http'], () => httpPool(fields.http)) }
}

function processPool(value: unknown): Omit<ProcessPool, 'pool' | 'slots'> {
  const fields = parts(value, ['commands', 'input', 'inherit_env', 'kill_grace'], 'a process launcher')
  return {
    kind: 'process',
    commands: required(fields, 'commands', (given) => byAction(given, command)),
    input: part(fields, 'input', (given) => oneOf(['stdin', 'file']).fromValue(given)) ?? 'stdin',
    inheritEnv: part(fields, 'inherit_env', (given) => texts('names of variables').fromValue(given)) ?? null,
    killGraceMs: part(fields, 'kill_grace', (given) => duration().fromValue(given)) ?? 10_000,
  }
}

function command(value: unknown): LaunchCommand {
  const fields = parts(value, ['argv', 'cwd', 'env'], 'a command')
  const argv = required(fields, 'argv', (given) => texts('the program and its arguments').fromValue(given))
  const cwd = part(fields, 'cwd', (given) => text.fromValue(given))
  const env = part(fields, 'env', (given) => textMap(given))
  return { argv, ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }) }
}

function httpPool(value: unknown): Omit<HttpPool, 'pool' | 'slots'> {
  const fields = parts(value, ['base_url', 'actions', 'secret_file', 'allow', 'callback_url'], 'an HTTP launcher')
  return {
    kind: 'http',
    baseUrl: part(fields, 'base_url', (given) => webAddress.fromValue(given)) ?? null,
    actions: part(fields, 'actions', (given) => byAction(given, httpTarget)) ?? {},
    secretFile: required(fields, 'secret_file', (given) => text.fromValue(given)),
    allow: part(fields, 'allow', (given) => texts('hosts and networks').fromValue(given)) ?? [],
    callbackUrl: part(fields, 'callback_url', (given) => webAddress.fromValue(given)) ?? null,
  }
}

function httpTarget(value: unknown): { readonly pluginId?: string; readonly url?: string } {
  const fields = parts(value, ['plugin_id', 'url'], 'a target')
  const pluginId = part(fields, 'plugin_id', (given) => text.fromValue(given))
  const url = part(fields, 'url', (given) => webAddress.fromValue(given))
  return { ...(pluginId === undefined ? {} : { pluginId }), ...(url === undefined ? {} : { url }) }
}

const KEPT = ['succeeded', 'cancelled', 'discarded', 'journal', 'series'] as const satisfies (keyof RetentionOptions)[]

/** In milliseconds; for ever what is not named. */
export const retention: Kind<RetentionOptions> = structure(
  `a map of durations (${KEPT.join(', ')})`,
  (value): RetentionOptions => {
    const fields = parts(value, KEPT, 'retention')
    return Object.fromEntries(
      KEPT.flatMap((what) => {
        const ms = part(fields, what, (given) => duration(1).fromValue(given))
        return ms === undefined ? [] : [[what, Math.min(ms, DURATION_MS_MAX)]]
      }),
    )
  },
)

/** 1 kb to 64 mb: what a request may bring. */
export const bodySize = size(1_024, 67_108_864)

function byAction<T>(value: unknown, read: (item: unknown) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(mapOf(value, 'a map, by action')).map(([action, item]) => [
      inside([action], () => actionName(action)),
      inside([action], () => read(item)),
    ]),
  )
}

function textMap(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(mapOf(value, 'a map of texts')).map(([name, item]) => [
      name,
      inside([name], () => text.fromValue(item)),
    ]),
  )
}

function parts(value: unknown, known: readonly string[], what: string): Readonly<Record<string, unknown>> {
  const fields = mapOf(value, `${what} (${known.join(', ')})`)
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      throw new Misfit(`There is no '${name.slice(0, 40)}' in ${what}.${suggestion(name, known)}`, [name])
    }
  }
  return fields
}

export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === null ? ` Known are: ${known.join(', ')}.` : ` Did you mean '${near}'?`
}

function mapOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return misfit(what, value)
  return value as Readonly<Record<string, unknown>>
}

function part<T>(fields: Readonly<Record<string, unknown>>, name: string, read: (given: unknown) => T): T | undefined {
  return name in fields ? inside([name], () => read(fields[name])) : undefined
}

function required<T>(fields: Readonly<Record<string, unknown>>, name: string, read: (given: unknown) => T): T {
  if (!(name in fields)) throw new Misfit(`The field '${name}' is missing.`)
  return inside([name], () => read(fields[name]))
}

/** Whatever does not fit in there is found by this path. */
function inside<T>(path: readonly (string | number)[], read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(error.message, [...path, ...error.path])
    throw error instanceof InvalidError ? new Misfit(error.message, path) : error
  }
}

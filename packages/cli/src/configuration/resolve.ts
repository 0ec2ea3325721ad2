// From flags, environment and file to one complete configuration: flag before environment before file before default.
// Every value keeps where it came from. All that is wrong is found in one go, so that one look is enough to set it right.

import { existsSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { InvalidError, nearest, nearMiss } from '@reprise/core'
import type { YamlFile } from '@reprise/policies'
import { type Finding, findingsOf, isMap, pathText } from '@reprise/policies/fields'
import { contentsOf, foreignness } from './own-file.ts'
import type { Setting } from './setting.ts'
import { type Configuration, flagName, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts'

export interface Given {
  /** Texts of flags, by the setting; `config` is the path of the file. */
  readonly flags: Readonly<Partial<Record<SettingName | 'config', string>>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface Origin {
  readonly kind: 'flag' | 'environment' | 'file' | 'default'
  /** `flag --port`, `environment REPRISE_PORT`, `reprise.yaml:3`, `default`. */
  readonly text: string
}

export interface ConfigurationProblem {
  /** Where it was given: as an origin, with the column for a file. */
  readonly place: string
  readonly setting: string
  readonly message: string
}

export interface Resolved {
  readonly values: Configuration
  readonly origins: Readonly<Record<SettingName, Origin>>
  /** The configuration file; null if there is none. */
  readonly file: string | null
  /** What relative paths in the file are relative to; the working directory without one. */
  readonly folder: string
  readonly cwd: string
}

export interface Inspected extends Resolved {
  /** A setting that has one is at its default in `values`. */
  readonly problems: readonly ConfigurationProblem[]
  /** Nothing wrong, and hardly meant. */
  readonly notes: readonly string[]
}

export const problemText = ({ place, setting, message }: ConfigurationProblem): string =>
  `${place}: ${setting === '' ? '' : `${setting}: `}${message}`

const FILE_NAME = 'reprise.yaml'
const POLICIES_FILE = 'config/tasks/retry-policies.yaml'

/** `InvalidError` with everything that is wrong. */
export async function resolveConfiguration(given: Given): Promise<Resolved> {
  const { problems, notes: _, ...resolved } = await inspectConfiguration(given)
  if (problems.length === 0) return resolved
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw new InvalidError([`The configuration has ${count}:`, ...problems.map(problemText)].join('\n  '))
}

/** The same for callers that go on in spite of problems. */
export async function inspectConfiguration(given: Given): Promise<Inspected> {
  const problems: ConfigurationProblem[] = []
  const file = await openFile(given, problems)
  const folder = file === null ? given.cwd : dirname(file.path)
  const values: Partial<Record<SettingName, unknown>> = {}
  const origins: Partial<Record<SettingName, Origin>> = {}
  for (const name of SETTING_NAMES) {
    const source = sourceOf(name, given, file)
    const value = source === null ? undefined : valueFrom(source, SETTINGS[name], problems)
    // Also if it has a problem: then the default counts.
    const origin = value === undefined || source === null ? DEFAULT : source.origin
    const base = origin.kind === 'file' ? folder : given.cwd
    const resolved = value === undefined ? SETTINGS[name].default : value
    values[name] = SETTINGS[name].path === true ? absolute(resolved, base) : resolved
    origins[name] = origin
  }
  if (values.policies === null) {
    const usual = resolve(given.cwd, POLICIES_FILE)
    if (existsSync(usual)) values.policies = usual
  }
  // Every setting of the table was resolved by its own kind.
  const complete = values as Configuration
  problems.push(...contradictions(complete, origins as Record<SettingName, Origin>))
  return {
    values: Object.freeze(complete),
    origins: origins as Record<SettingName, Origin>,
    file: file?.path ?? null,
    folder,
    cwd: given.cwd,
    problems,
    notes: unknownVariables(given.env),
  }
}

interface OpenFile {
  readonly path: string
  readonly shown: string
  readonly yaml: Pick<YamlFile, 'value' | 'positionOf'>
}

/** Of a file that is not read. */
const NOTHING: OpenFile['yaml'] = { value: null, positionOf: () => ({ line: 1, column: 1 }) }

async function openFile(given: Given, problems: ConfigurationProblem[]): Promise<OpenFile | null> {
  const named = given.flags.config ?? (given.env.REPRISE_CONFIG || undefined)
  const path = resolve(given.cwd, named ?? FILE_NAME)
  if (named === undefined && !existsSync(path)) return null
  // Loaded only when there is a file to read.
  const { ConfigurationError, readFileText, readYaml } = await import('@reprise/policies')
  const shown = shownPath(path, given.cwd)
  try {
    const foreign = existsSync(path) ? foreignness(shown, statSync(path)) : null
    if (foreign !== null) {
      problems.push({ place: shown, setting: '', message: foreign })
      return { path, shown, yaml: NOTHING }
    }
    const file = { path, shown, yaml: readYaml((await readFileText(path)).text, shown) }
    for (const finding of unknownKeys(file.yaml.value)) problems.push(problemIn(file, finding))
    return file
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    for (const { line, column, path: setting, message } of error.problems) {
      problems.push({ place: `${shown}:${line}:${column}`, setting, message })
    }
    return { path, shown, yaml: NOTHING }
  }
}

function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}

const KEYS: readonly string[] = SETTING_NAMES.flatMap((name) => SETTINGS[name].key ?? [])
/** By its name, what a section may hold; null for a setting without a section. */
const TOP_KEYS = new Map<string, readonly string[] | null>(
  KEYS.map((key) => {
    const [name = '', inner] = key.split('.')
    const inside = KEYS.flatMap((other) => (other.startsWith(`${name}.`) ? [other.slice(name.length + 1)] : []))
    return [name, inner === undefined ? null : inside]
  }),
)
const SECRET_KEYS: Readonly<Record<string, string>> = {
  token: 'REPRISE_TOKEN_FILE',
  'oidc.client_secret': 'REPRISE_OIDC_CLIENT_SECRET_FILE',
}

function unknownKeys(value: unknown): readonly Finding[] {
  if (value === null) return []
  if (!isMap(value)) return [{ path: [], message: 'This must be a map of settings.', isName: false }]
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = TOP_KEYS.get(name)
    if (known === undefined) return unknownKey([name], [...TOP_KEYS.keys()])
    if (known === null) return []
    if (!isMap(inner)) return { path: [name], message: 'This must be a map.', isName: false }
    return Object.keys(inner).flatMap((part) => (known.includes(part) ? [] : unknownKey([name, part], known)))
  })
}

function unknownKey(path: readonly string[], known: readonly string[]): Finding {
  const secret = SECRET_KEYS[path.join('.')]
  const near = nearMiss(path.at(-1) ?? '', known) || ` Known are: ${known.join(', ')}.`
  const message =
    secret === undefined
      ? `There is no such setting.${near}`
      : `Secrets don't stand in this file. Put it into a file of its own, and name that in ${secret}.`
  return { path, message, isName: true }
}

function problemIn({ shown, yaml }: OpenFile, finding: Finding): ConfigurationProblem {
  const { line, column } = yaml.positionOf(finding)
  return { place: `${shown}:${line}:${column}`, setting: pathText(finding.path), message: finding.message }
}

const DEFAULT: Origin = { kind: 'default', text: 'default' }

/** Where a setting was given. */
interface Source {
  readonly origin: Origin
  /** Throws `InvalidError`. */
  read(): unknown
  problemOf(finding: Finding): ConfigurationProblem
}

function sourceOf(name: SettingName, given: Given, file: OpenFile | null): Source | null {
  const setting: Setting<unknown> = SETTINGS[name]
  const byText = (origin: Origin, read: () => string): Source => ({
    origin,
    read: () => setting.kind.fromText(read()),
    problemOf: ({ path, message }) => ({ place: origin.text, setting: pathText(path), message }),
  })
  const flag = given.flags[name]
  if (flag !== undefined) {
    return byText({ kind: 'flag', text: `flag --${flagName(name) ?? name}` }, () => filled(flag))
  }
  const variable = variableOf(setting, given)
  if (variable !== null)
    return byText({ kind: 'environment', text: `environment ${variable.name}` }, () => variable.read())
  if (file === null || setting.key === null) return null
  const keys = setting.key.split('.')
  const found = keys.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), file.yaml.value)
  if (found === undefined) return null
  return {
    origin: { kind: 'file', text: `${file.shown}:${file.yaml.positionOf({ path: keys, isName: true }).line}` },
    read: () => found,
    problemOf: (finding) => problemIn(file, { ...finding, path: [...keys, ...finding.path] }),
  }
}

/** Undefined if there is a problem with it. */
function valueFrom(source: Source, { kind }: Setting<unknown>, problems: ConfigurationProblem[]): unknown {
  try {
    const given = source.read()
    const { success, data, error } = kind.schema.safeParse(given)
    if (success) return data
    problems.push(...findingsOf(error, given).map((finding) => source.problemOf(finding)))
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    problems.push(source.problemOf({ path: [], message: error.message, isName: false }))
  }
  return undefined
}

interface Variable {
  readonly name: string
  read(): string
}

/** An empty variable counts as one that is not set. */
function variableOf(setting: Setting<unknown>, { env, cwd }: Given): Variable | null {
  const mayBeFile = setting.secret === true || setting.address === true
  for (const name of setting.variables) {
    const value = env[name]?.trim() ?? ''
    const path = mayBeFile ? (env[`${name}_FILE`]?.trim() ?? '') : ''
    if (value !== '' && path !== '') {
      return { name, read: () => refuse(`Both ${name} and ${name}_FILE are set. Keep one of them.`) }
    }
    if (value !== '') return { name, read: () => value }
    if (path !== '') return { name: `${name}_FILE`, read: () => contentsOf(resolve(cwd, path)) }
  }
  return null
}

function filled(given: string): string {
  return given.trim() === '' ? refuse('This must not be empty.') : given.trim()
}

function refuse(message: string): never {
  throw new InvalidError(message)
}

function absolute(value: unknown, base: string): unknown {
  if (typeof value === 'string') return resolve(base, value)
  return Array.isArray(value) ? value.map((item: unknown) => absolute(item, base)) : value
}

/** What each setting alone can't tell. */
function contradictions(values: Configuration, origins: Readonly<Record<SettingName, Origin>>): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = []
  const add = (name: SettingName, message: string): void => {
    problems.push({ place: origins[name].text, setting: SETTINGS[name].key ?? name, message })
  }
  if (values.oidcIssuer !== null && values.oidcClientId === null) {
    add('oidcIssuer', 'An issuer needs a client id as well: set oidc.client_id, or REPRISE_OIDC_CLIENT_ID.')
  }
  if (values.oidcIssuer === null && values.oidcClientId !== null) {
    add('oidcClientId', 'A client id needs an issuer as well: set oidc.issuer, or REPRISE_OIDC_ISSUER.')
  }
  const both = values.launchPools.find(({ pool }) => values.directedPools.includes(pool))
  if (both !== undefined) {
    add('launchPools', `Pool '${both.pool}' is a directed pool and a launch pool. Name it in one of them.`)
  }
  return problems
}

const VARIABLES: readonly string[] = [...SETTING_NAMES.flatMap((name) => SETTINGS[name].variables), 'REPRISE_CONFIG']
const PREFIX = 'REPRISE_'
const OUR_NAMES = VARIABLES.flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []))

/** Variables of ours that are misspelt, most likely. Others may be somebody else's: launched commands get some as well. */
function unknownVariables(env: Given['env']): readonly string[] {
  return Object.keys(env).flatMap((name) => {
    const bare = name.replace(/_FILE$/, '')
    if (!name.startsWith(PREFIX) || VARIABLES.includes(name) || VARIABLES.includes(bare)) return []
    const near = nearest(bare.slice(PREFIX.length), OUR_NAMES)
    return near === null ? [] : [`The variable ${name} means nothing here. Did you mean ${PREFIX}${near}?`]
  })
}

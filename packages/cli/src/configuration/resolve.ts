// From flags, environment and file to one complete configuration: flag before environment before file before default.
// Every value keeps where it came from. All that is wrong is found in one go, so that one look is enough to set it right.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { InvalidError, nearest } from '@reprise/core'
import type { ConfigurationFile } from './file.ts'
import { Misfit } from './kinds.ts'
import type { Setting } from './setting.ts'
import { type Configuration, flagName, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts'
import { suggestion } from './structures.ts'

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

/** Everything that is wrong, at once. */
export class ConfigurationError extends InvalidError {
  readonly problems: readonly ConfigurationProblem[]

  constructor(problems: readonly ConfigurationProblem[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super([`The configuration has ${count}:`, ...problems.map(problemText)].join('\n  '))
    this.problems = problems
  }
}

export const problemText = ({ place, setting, message }: ConfigurationProblem): string =>
  `${place}: ${setting === '' ? '' : `${setting}: `}${message}`

const FILE_NAME = 'reprise.yaml'
const POLICIES_FILE = 'config/tasks/retry-policies.yaml'

export async function resolveConfiguration(given: Given): Promise<Resolved> {
  const { problems, notes: _, ...resolved } = await inspectConfiguration(given)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return resolved
}

/** The same for whoever wants to go on in spite of problems. */
export async function inspectConfiguration(given: Given): Promise<Inspected> {
  const problems: ConfigurationProblem[] = []
  const file = await openFile(given, problems)
  const folder = file === null ? given.cwd : dirname(file.path)
  const values: Partial<Record<SettingName, unknown>> = {}
  const origins: Partial<Record<SettingName, Origin>> = {}
  for (const name of SETTING_NAMES) {
    const { value, origin } = resolveOne(name, given, file, problems)
    const base = origin.kind === 'file' ? folder : given.cwd
    values[name] = SETTINGS[name].path === true ? absolute(value, base) : value
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
  readonly read: ConfigurationFile
}

async function openFile(given: Given, problems: ConfigurationProblem[]): Promise<OpenFile | null> {
  const named = given.flags.config ?? (given.env.REPRISE_CONFIG || undefined)
  const path = resolve(given.cwd, named ?? FILE_NAME)
  if (named === undefined && !existsSync(path)) return null
  // Loaded only when there is a file to read.
  const { readConfigurationFile } = await import('./file.ts')
  const shown = shownPath(path, given.cwd)
  const read = await readConfigurationFile(path)
  for (const { line, column, message } of read.problems) {
    problems.push({ place: `${shown}:${line}:${column}`, setting: '', message })
  }
  const file = { path, shown, read }
  refuseUnknownKeys(file, problems)
  return file
}

function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}

const KEYS: readonly string[] = SETTING_NAMES.flatMap((name) => SETTINGS[name].key ?? [])
const SECTIONS: ReadonlySet<string> = new Set(
  KEYS.flatMap((key) => (key.includes('.') ? [key.split('.')[0] ?? ''] : [])),
)
const SECRET_KEYS: Readonly<Record<string, string>> = {
  token: 'REPRISE_TOKEN_FILE',
  'oidc.client_secret': 'REPRISE_OIDC_CLIENT_SECRET_FILE',
}

function refuseUnknownKeys(file: OpenFile, problems: ConfigurationProblem[]): void {
  const { value } = file.read
  if (value === null || value === undefined) return
  const refuse = (path: readonly string[], message: string): void => {
    problems.push({ place: placeIn(file, path), setting: path.join('.'), message })
  }
  if (!isMap(value)) {
    refuse([], 'This must be a map of settings.')
    return
  }
  for (const [name, inner] of Object.entries(value)) {
    if (KEYS.includes(name)) continue
    if (!SECTIONS.has(name))
      refuse([name], unknownKey(name, [...KEYS.filter((key) => !key.includes('.')), ...SECTIONS]))
    else if (!isMap(inner)) refuse([name], 'This must be a map.')
    else {
      const known = KEYS.flatMap((key) => (key.startsWith(`${name}.`) ? [key.slice(name.length + 1)] : []))
      for (const part of Object.keys(inner)) {
        if (!known.includes(part)) refuse([name, part], unknownKey(part, known, `${name}.${part}`))
      }
    }
  }
}

function unknownKey(name: string, known: readonly string[], whole = name): string {
  const secret = SECRET_KEYS[whole]
  if (secret !== undefined)
    return `Secrets don't stand in this file. Put it into a file of its own, and name that in ${secret}.`
  return `There is no such setting.${suggestion(name, known)}`
}

function placeIn(file: OpenFile, path: readonly (string | number)[]): string {
  const { line, column } = file.read.at(path)
  return `${file.shown}:${line}:${column}`
}

interface One {
  readonly value: unknown
  readonly origin: Origin
}

const DEFAULT: Origin = { kind: 'default', text: 'default' }

function resolveOne(name: SettingName, given: Given, file: OpenFile | null, problems: ConfigurationProblem[]): One {
  const setting: Setting<unknown> = SETTINGS[name]
  const fallback: One = { value: setting.default, origin: DEFAULT }
  const attempt = (origin: Origin, place: (path: readonly (string | number)[]) => string, read: () => unknown): One => {
    try {
      return { value: read(), origin }
    } catch (error) {
      if (!(error instanceof InvalidError)) throw error
      const path = error instanceof Misfit ? error.path : []
      const label = origin.kind === 'file' ? [setting.key, ...path].join('.') : path.join('.')
      problems.push({ place: place(path), setting: label, message: error.message })
      return fallback
    }
  }

  const flag = given.flags[name]
  if (flag !== undefined) {
    const origin: Origin = { kind: 'flag', text: `flag --${flagName(name) ?? name}` }
    return attempt(
      origin,
      () => origin.text,
      () => setting.kind.fromText(filled(flag)),
    )
  }
  const variable = variableOf(setting, given)
  if (variable !== null) {
    const origin: Origin = { kind: 'environment', text: `environment ${variable.name}` }
    return attempt(
      origin,
      () => origin.text,
      () => setting.kind.fromText(variable.read()),
    )
  }
  const path = setting.key?.split('.') ?? []
  const found = file === null || path.length === 0 ? undefined : valueAt(file.read.value, path)
  if (file !== null && found !== undefined) {
    const origin: Origin = { kind: 'file', text: `${file.shown}:${file.read.at(path).line}` }
    return attempt(
      origin,
      (inner) => placeIn(file, [...path, ...inner]),
      () => setting.kind.fromValue(found),
    )
  }
  return fallback
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
    if (path !== '') return { name: `${name}_FILE`, read: () => contents(resolve(cwd, path)) }
  }
  return null
}

function contents(path: string): string {
  let read: string
  try {
    read = readFileSync(path, 'utf8').trim()
  } catch (error) {
    return refuse(
      `The file it names can't be read: ${error instanceof Error ? error.message : 'for an unknown reason'}.`,
    )
  }
  return read === '' ? refuse('The file it names is empty.') : read
}

function filled(given: string): string {
  return given.trim() === '' ? refuse('This must not be empty.') : given.trim()
}

function refuse(message: string): never {
  throw new Misfit(message)
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root
  for (const step of path) value = isMap(value) ? value[step] : undefined
  return value
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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

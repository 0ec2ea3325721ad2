// Packs: actions declared in YAML (C2), with what they have in common. Reading one gives the declarations that a client
// submits by, and how each is run. Nothing is started here: runtimes are the business of workers and launchers.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Action, type ActionOptions, checkedName, defineAction, InvalidError, RETRIES_MAX } from '@reprise/core'
import { readConfigurationFile } from './configuration-file.ts'
import { type Fields, type Place, readYaml } from './place.ts'
import { POLICY_FIELDS, readPolicySettings, withoutUndefined } from './policy-fields.ts'
import { ConfigurationError, type Problem, type ProblemList } from './problems.ts'
import type { PolicySettings } from './templates.ts'

export const RUNTIMES = ['node', 'process', 'http'] as const
export type Runtime = (typeof RUNTIMES)[number]

/** How an action is run. */
export type Entrypoint =
  /** A module, by its path. */
  | { readonly runtime: 'node'; readonly module: string }
  /** A program and its arguments, never given to a shell. */
  | { readonly runtime: 'process'; readonly argv: readonly string[] }
  | { readonly runtime: 'http'; readonly url: string }

export interface DeclaredAction {
  readonly action: Action
  readonly entrypoint: Entrypoint
}

export interface Pack {
  readonly name: string
  readonly file: string
  readonly actions: readonly DeclaredAction[]
}

const ACTIONS_MAX = 1_000
const FILES_MAX = 1_000
const SECONDS_MAX = 31_536_000

const SETTING_FIELDS = ['runtime', 'timeout_seconds', 'max_retries', 'queue_ttl_seconds', 'pool', 'depends_on'] as const
type SettingField = (typeof SETTING_FIELDS)[number]

// Rules, bounds and escalation don't travel with a task: they are for a policy that matches the pack.
const PACK_POLICY_FIELDS = POLICY_FIELDS.filter(
  (field) => field !== 'rules' && field !== 'retry_after' && field !== 'escalation',
)

interface Settings {
  readonly runtime?: Runtime
  readonly timeout?: number
  readonly maxRetries?: number
  readonly queueTtl?: number
  readonly pool?: string
  readonly dependsOn?: readonly string[]
}

/** The packs of one file, or of every `.yaml` and `.yml` file of a folder. `ConfigurationError` with all that is wrong. */
export async function loadPacks(path: string): Promise<readonly Pack[]> {
  const files = await filesAt(path)
  const packs: Pack[] = []
  const problems: Problem[] = []
  for (const file of files) {
    try {
      packs.push(parsePack((await readConfigurationFile(file)).text, file))
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(...error.problems)
    }
  }
  problems.push(...repeated(packs))
  if (problems.length > 0) throw new ConfigurationError(problems)
  return packs
}

async function filesAt(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return null
    throw new InvalidError(`The packs at '${path}' can't be read: ${error.message}.`)
  })
  if (names === null) return [path]
  const files = names.filter((name) => /\.ya?ml$/.test(name)).toSorted()
  if (files.length > FILES_MAX)
    throw new InvalidError(`'${path}' holds ${files.length} packs; at most ${FILES_MAX} are read.`)
  return files.map((name) => join(path, name))
}

/** An action's name is its own in all packs: tasks go by it. */
function repeated(packs: readonly Pack[]): Problem[] {
  const owners = new Map<string, string>()
  const problems: Problem[] = []
  for (const { file, name: pack, actions } of packs) {
    for (const { action } of actions) {
      const owner = owners.get(action.name)
      if (owner === undefined) owners.set(action.name, file)
      else {
        const message = `The action '${action.name}' of pack '${pack}' is declared in ${owner} already.`
        problems.push({ file, line: 1, column: 1, path: 'actions', message })
      }
    }
  }
  return problems
}

/** The pack that the text describes; `ConfigurationError` with everything that is wrong with it. */
export function parsePack(text: string, file: string): Pack {
  const { root, problems } = readYaml(text, file)
  const fields = root.fields(['pack', 'defaults', 'policy', 'actions'], 'a pack')
  const name = fields?.required('pack', readName)
  const defaults = fields?.get('defaults', (place) => readDefaults(place)) ?? {}
  const policy = fields?.get('policy', (place) => readPackPolicy(place, name ?? '-')) ?? {}
  const common: Common = { pack: name ?? '-', defaults, policy, names: new Set(), problems }
  const actions = fields?.required('actions', (place) => place.list(ACTIONS_MAX, (item) => readAction(item, common)))
  problems.throwIfAny()
  return { name: name ?? '-', file, actions: actions ?? [] }
}

interface Common {
  readonly pack: string
  readonly defaults: Settings
  readonly policy: PolicySettings
  readonly names: Set<string>
  readonly problems: ProblemList
}

function readDefaults(place: Place): Settings | undefined {
  const fields = place.fields(SETTING_FIELDS, 'the defaults of a pack')
  return fields === undefined ? undefined : readSettings(fields)
}

function readPackPolicy(place: Place, pack: string): PolicySettings | undefined {
  const fields = place.fields(PACK_POLICY_FIELDS, 'the policy of a pack')
  return fields === undefined ? undefined : readPolicySettings(fields, pack)
}

function readSettings(fields: Fields<SettingField>): Settings {
  return withoutUndefined({
    runtime: fields.get('runtime', (at) => at.oneOf(RUNTIMES)),
    timeout: fields.get('timeout_seconds', readSeconds),
    maxRetries: fields.get('max_retries', (at) => at.whole(0, RETRIES_MAX)),
    queueTtl: fields.get('queue_ttl_seconds', readSeconds),
    pool: fields.get('pool', readName),
    dependsOn: fields.get('depends_on', (at) => at.texts(10, readName)),
  })
}

function readAction(place: Place, common: Common): DeclaredAction | undefined {
  const before = common.problems.length
  const fields = place.fields(['name', 'entrypoint', ...SETTING_FIELDS], 'an action')
  if (fields === undefined) return undefined
  const name = fields.required('name', (at) => {
    const text = readName(at)
    if (text === undefined || !common.names.has(text)) return text
    return at.problem(`Another action is named '${text}' already.`)
  })
  if (name !== undefined) common.names.add(name)
  const { runtime, ...own } = { ...common.defaults, ...readSettings(fields) }
  if (runtime === undefined && !fields.has('runtime')) {
    place.problem(`The field 'runtime' is missing: one of ${RUNTIMES.join(', ')}, here or in the defaults of the pack.`)
  }
  const entrypoint =
    runtime === undefined ? undefined : fields.required('entrypoint', (at) => readEntrypoint(at, runtime))
  if (name === undefined || entrypoint === undefined || common.problems.length > before) return undefined
  const options = { name, pack: common.pack, ...policyOptions(common.policy), ...own }
  const action = place.checked(() => defineAction(options))
  return action === undefined ? undefined : { action, entrypoint }
}

/** What a pack's policy says, as options of its actions. */
function policyOptions(policy: PolicySettings): Omit<ActionOptions<unknown, unknown, unknown>, 'name' | 'input'> {
  const { breaker, quota, retries, slaMs, lossesMax, backoff, retryUnknown, onLost } = policy
  return {
    ...withoutUndefined({ maxRetries: retries, lossesMax, backoff, retryUnknown, onLost, sla: slaMs }),
    ...(breaker === undefined ? {} : { breaker: breaker === 'off' ? false : breakerOptions(breaker) }),
    ...(quota === undefined ? {} : { retryQuota: quotaOptions(quota) }),
  }
}

function breakerOptions(settings: Exclude<PolicySettings['breaker'], 'off' | undefined>) {
  const { windowMs, openMs, openMsMax, ...counts } = settings
  return { window: windowMs, open: openMs, openMax: openMsMax, ...counts }
}

function quotaOptions({ name, windowMs, limit, share }: NonNullable<PolicySettings['quota']>) {
  return { name, window: windowMs, ...(limit === null ? {} : { limit }), ...(share === null ? {} : { share }) }
}

function readEntrypoint(place: Place, runtime: Runtime): Entrypoint | undefined {
  switch (runtime) {
    case 'node': {
      const module = place.text(1_000)
      return module === undefined ? undefined : { runtime, module }
    }
    case 'process': {
      const argv = place.texts(1_000, (item) => item.text(10_000))
      return argv === undefined ? undefined : { runtime, argv }
    }
    case 'http': {
      const url = place.text(2_000)
      if (url === undefined) return undefined
      const parsed = URL.parse(url)
      if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
        return place.problem('This must be an http or https address.')
      }
      if (parsed.username !== '' || parsed.password !== '') {
        return place.problem('An address must not hold a user name or a password.')
      }
      return { runtime, url: parsed.href }
    }
  }
}

function readName(place: Place): string | undefined {
  const text = place.text()
  return text === undefined ? undefined : place.checked(() => checkedName('name', text))
}

/** In milliseconds. */
function readSeconds(place: Place): number | undefined {
  const seconds = place.number(0.001, SECONDS_MAX)
  return seconds === undefined ? undefined : Math.round(seconds * 1_000)
}

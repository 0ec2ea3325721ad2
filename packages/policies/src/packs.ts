// Packs: actions declared in YAML (C2), with what they have in common. Reading one gives the declarations that a client
// submits by, and how each is run. Nothing is started here: runtimes are the business of workers and launchers.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Action, type ActionOptions, checkedName, defineAction, InvalidError, RETRIES_MAX } from '@reprise/core'
import { z } from 'zod'
import { ConfigurationError, type Problem } from './configuration-error.ts'
import {
  checked,
  dependingOn,
  fields,
  isMap,
  list,
  made,
  numberIn,
  oneOf,
  oneOrMore,
  optional,
  text,
  whole,
  withoutNamesakes,
} from './fields.ts'
import { packPolicy, settingsOf } from './policy-fields.ts'
import type { PolicySettings } from './templates.ts'
import { parseYaml, readFileText } from './yaml-file.ts'

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

const DEPENDENCIES_MAX = 10

const name = text().transform(made((given) => checkedName('name', given)))
/** In milliseconds. */
const seconds = numberIn(0.001, SECONDS_MAX).transform((given) => Math.round(given * 1_000))

const SETTING_FIELDS = optional({
  runtime: oneOf(RUNTIMES),
  timeout_seconds: seconds,
  max_retries: whole(0, RETRIES_MAX),
  queue_ttl_seconds: seconds,
  pool: name,
  depends_on: oneOrMore(DEPENDENCIES_MAX, name),
})
const defaults = fields('the defaults of a pack', SETTING_FIELDS)

const ENTRYPOINTS: Readonly<Record<Runtime, z.ZodType<Entrypoint>>> = {
  node: text(1_000).transform((module) => ({ runtime: 'node', module })),
  process: oneOrMore(1_000, text(10_000)).transform((argv) => ({ runtime: 'process', argv })),
  http: text(2_000).transform(made((url) => ({ runtime: 'http', url: checkedUrl(url) }))),
}

function checkedUrl(given: string): string {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new InvalidError('This must be an http or https address.')
  if (url.username === '' && url.password === '') return url.href
  throw new InvalidError('An address must not hold a user name or a password.')
}

const actionOf = (entrypoint: z.ZodType<Entrypoint>) => fields('an action', { name, entrypoint, ...SETTING_FIELDS })
const ACTIONS: ReadonlyMap<unknown, ReturnType<typeof actionOf>> = new Map(
  RUNTIMES.map((runtime) => [runtime, actionOf(ENTRYPOINTS[runtime])]),
)
/** The entrypoint can't be judged; all else can. */
const actionOfOddRuntime = actionOf(z.unknown() as z.ZodType<Entrypoint>)
const actionWithoutRuntime = actionOfOddRuntime.superRefine(
  (_, context) => {
    const message = `The field 'runtime' is missing: one of ${RUNTIMES.join(', ')}, here or in the defaults of the pack.`
    context.addIssue({ code: 'custom', message })
  },
  { when: () => true },
)

const packFile = dependingOn((given) => {
  const usual = isMap(given) && isMap(given.defaults) ? ACTIONS.get(given.defaults.runtime) : undefined
  const action = dependingOn((item) => {
    if (!isMap(item) || item.runtime === undefined) return usual ?? actionWithoutRuntime
    return ACTIONS.get(item.runtime) ?? actionOfOddRuntime
  })
  return fields('a pack', {
    pack: name,
    defaults: defaults.default({}),
    policy: packPolicy.default({}),
    actions: withoutNamesakes('action')(list(ACTIONS_MAX, action)),
  }).transform(({ pack, policy, actions, ...common }, context) => ({
    name: pack,
    actions: actions.map(({ entrypoint, ...own }, index): DeclaredAction => {
      const { runtime: _, timeoutSeconds, queueTtlSeconds, ...settings } = { ...common.defaults, ...own }
      const options = {
        pack,
        ...policyOptions(settingsOf(policy, pack)),
        ...settings,
        ...(timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds }),
        ...(queueTtlSeconds === undefined ? {} : { queueTtl: queueTtlSeconds }),
      }
      return { action: checked(context, ['actions', index], () => defineAction(options)), entrypoint }
    }),
  }))
})

/** The packs of one file, or of every `.yaml` and `.yml` file of a folder. `ConfigurationError` with all that is wrong. */
export async function loadPacks(path: string): Promise<readonly Pack[]> {
  const files = await filesAt(path)
  const packs: Pack[] = []
  const problems: Problem[] = []
  for (const file of files) {
    try {
      packs.push(parsePack((await readFileText(file)).text, file))
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
  return { file, ...parseYaml(text, file, packFile) }
}
/** What a pack's policy says, as options of its actions. */
function policyOptions(policy: PolicySettings): Omit<ActionOptions<unknown, unknown, unknown>, 'name' | 'input'> {
  const { breaker, quota, retries, slaMs, rules: _, retryAfter: __, escalation: ___, ...rest } = policy
  return {
    ...rest,
    ...(retries === undefined ? {} : { maxRetries: retries }),
    ...(slaMs === undefined ? {} : { sla: slaMs }),
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

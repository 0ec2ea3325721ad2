// Packs: actions declared in YAML (C2), with what they have in common. Reading one gives the declarations that a client
// submits by, and how each is run. Nothing is started here: runtimes are the business of workers and launchers. Where packs
// stand on disk is pack-files.ts.

import { dirname } from 'node:path'
import {
  type Action,
  type ActionOptions,
  defineAction,
  InvalidError,
  knownName,
  present,
  RETRIES_MAX,
} from '@reprise/core'
import { z } from 'zod'
import {
  checked,
  dependingOn,
  fields,
  flag,
  isMap,
  list,
  made,
  mustBe,
  numberIn,
  oneOrMore,
  optional,
  text,
  whole,
  withoutNamesakes,
} from './fields.ts'
import { packPolicy, settingsOf } from './policy-fields.ts'
import type { PolicySettings } from './templates.ts'
import { parseYaml } from './yaml-file.ts'

/** Those with a meaning of their own. Any other name is that of a program which runs the entrypoint: `python3`, `bash`. */
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
  /** As the pack has it. */
  readonly runtime: string
  /** That of another runtime is a process: the runtime's program, with what the pack names as arguments. */
  readonly entrypoint: Entrypoint
  /** Where its file stands: relative paths are meant from there. */
  readonly folder: string
}

export interface Pack {
  readonly name: string
  readonly file: string
  readonly actions: readonly DeclaredAction[]
}

const ACTIONS_MAX = 1_000
const SECONDS_MAX = 31_536_000

const DEPENDENCIES_MAX = 10

const name = text().transform(made((given) => knownName('name', given)))
/** In milliseconds. */
const seconds = numberIn(0.001, SECONDS_MAX).transform((given) => Math.round(given * 1_000))

const runtime = text(100).regex(/^[a-z0-9][\w.+-]*$/i, { error: ({ input }) => mustBe('the name of a runtime', input) })

const SETTING_FIELDS = optional({
  runtime,
  timeout_seconds: seconds,
  max_retries: whole(0, RETRIES_MAX),
  queue_ttl_seconds: seconds,
  pool: name,
  uses: oneOrMore(DEPENDENCIES_MAX, name),
  health_aware: flag(),
})
const defaults = fields('the defaults of a pack', SETTING_FIELDS)

const argv = oneOrMore(1_000, text(10_000))
const ENTRYPOINTS: Readonly<Record<Runtime, z.ZodType<Entrypoint>>> = {
  node: text(1_000).transform((module) => ({ runtime: 'node', module })),
  process: argv.transform((given) => ({ runtime: 'process', argv: given })),
  http: text(2_000).transform(made((url) => ({ runtime: 'http', url: checkedUrl(url) }))),
}

function checkedUrl(given: string): string {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new InvalidError('This must be an http or https address.')
  if (url.username === '' && url.password === '') return url.href
  throw new InvalidError('An address must not hold a user name or a password.')
}

const actionOf = (entrypoint: z.ZodType<Entrypoint>) => fields('an action', { name, entrypoint, ...SETTING_FIELDS })
const ACTIONS: ReadonlyMap<string, ReturnType<typeof actionOf>> = new Map(
  RUNTIMES.map((known) => [known, actionOf(ENTRYPOINTS[known])]),
)
/** The entrypoint can't be judged; all else can. */
const actionOfOddRuntime = actionOf(z.unknown() as z.ZodType<Entrypoint>)

/** Of another runtime: its program gets the entrypoint as arguments. */
const actionRunBy = (program: string) =>
  actionOf(argv.transform((given) => ({ runtime: 'process', argv: [program, ...given] })))

const actionOfRuntime = (given: unknown): ReturnType<typeof actionOf> => {
  if (typeof given !== 'string' || !runtime.safeParse(given).success) return actionOfOddRuntime
  return ACTIONS.get(given) ?? actionRunBy(given)
}
const actionWithoutRuntime = actionOfOddRuntime.superRefine(
  (_, context) => {
    const message = `The field 'runtime' is missing: ${RUNTIMES.join(', ')} or the name of a program, here or in the defaults of the pack.`
    context.addIssue({ code: 'custom', message })
  },
  { when: () => true },
)

/** One action of a pack whose usual runtime is `usual`. */
const actionIn = (usual: unknown) =>
  dependingOn((item) => {
    if (isMap(item) && item.runtime !== undefined) return actionOfRuntime(item.runtime)
    return usual === undefined ? actionWithoutRuntime : actionOfRuntime(usual)
  })

type GivenAction = z.output<ReturnType<typeof actionOf>>
const COMMON_FIELDS = { defaults: defaults.default({}), policy: packPolicy.default({}) }
const commonOf = fields('a pack', { ...optional({ pack: name }), ...COMMON_FIELDS })

/** What the actions of a pack have in common. */
export type PackCommon = Omit<z.output<typeof commonOf>, 'pack'> & { readonly pack: string }

function declared({ entrypoint, ...own }: GivenAction, { pack, policy, defaults: usual }: PackCommon, folder: string) {
  const { runtime: by = '', timeoutSeconds, queueTtlSeconds, maxRetries, ...settings } = { ...usual, ...own }
  const { retry, ...ofPolicy } = policyOptions(settingsOf(policy, pack))
  const options = {
    pack,
    ...ofPolicy,
    ...settings,
    // Retries that a pack asks for are for failures that a rule knows (C3).
    retry: { unknown: false, ...retry, ...(maxRetries === undefined ? {} : { max: maxRetries }) },
    ...(timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds }),
    ...(queueTtlSeconds === undefined ? {} : { queueTtl: queueTtlSeconds }),
    // What a worker of a directed pool must have (C6). A process or an address is no runtime of a worker.
    ...(by === 'process' || by === 'http' ? {} : { runtime: by }),
  }
  return { action: defineAction(options), runtime: by, entrypoint, folder } satisfies DeclaredAction
}

const packFile = (folder: string) =>
  dependingOn((given) => {
    const usual = isMap(given) && isMap(given.defaults) ? given.defaults.runtime : undefined
    return fields('a pack', {
      pack: name,
      ...COMMON_FIELDS,
      actions: withoutNamesakes('action')(list(ACTIONS_MAX, actionIn(usual))),
    }).transform(({ actions, ...common }, context) => ({
      name: common.pack,
      actions: actions.map(
        (action, index): DeclaredAction => checked(context, ['actions', index], () => declared(action, common, folder)),
      ),
    }))
  })

/** The file of a folder that is a pack: all but the actions, which have files of their own. */
export function parsePackHead(text: string, file: string, usualName: string): PackCommon {
  const { pack = usualName, ...common } = parseYaml(text, file, commonOf)
  return { pack, ...common }
}

export const emptyPackHead = (pack: string): PackCommon => ({ pack, ...commonOf.parse({}) })

/** An action in a file of its own, named after the file unless it has a name. */
export function parsePackAction(text: string, file: string, usualName: string, common: PackCommon): DeclaredAction {
  const named = (given: unknown) => (isMap(given) && given.name === undefined ? { ...given, name: usualName } : given)
  const schema = z
    .preprocess(named, actionIn(common.defaults.runtime))
    .transform((action, context) => checked(context, [], () => declared(action, common, dirname(file))))
  return parseYaml(text, file, schema)
}

/** The pack that the text describes; `ConfigurationError` with everything that is wrong with it. */
export function parsePack(text: string, file: string): Pack {
  return { file, ...parseYaml(text, file, packFile(dirname(file))) }
}
/** What a pack's policy says, as options of its actions. */
function policyOptions(policy: PolicySettings): Omit<ActionOptions<unknown, unknown, unknown>, 'name' | 'input'> {
  const { breaker, quota, retries, backoff, retryUnknown, slaMs, ...others } = policy
  const { rules: _, retryAfter: __, escalation: ___, ...rest } = others
  return {
    ...rest,
    retry: present({ max: retries, backoff, unknown: retryUnknown }),
    ...(slaMs === undefined ? {} : { sla: slaMs }),
    ...(breaker === undefined ? {} : { breaker: breaker === 'off' ? false : breakerOptions(breaker) }),
    ...(quota === undefined ? {} : { retryQuota: quotaOptions(quota) }),
  }
}

function breakerOptions(settings: Exclude<PolicySettings['breaker'], 'off' | undefined>) {
  const { windowMs, openMs, maxOpenMs, ...counts } = settings
  return { window: windowMs, open: openMs, maxOpen: maxOpenMs, ...counts }
}

function quotaOptions({ name, windowMs, limit, share }: NonNullable<PolicySettings['quota']>) {
  return { name, window: windowMs, ...(limit === null ? {} : { limit }), ...(share === null ? {} : { share }) }
}

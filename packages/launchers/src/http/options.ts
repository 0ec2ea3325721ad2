// The options of the HTTP launcher, checked and completed once; and from an order to where it is sent and what.

import { createHash } from 'node:crypto'
import {
  type Clock,
  check,
  type Duration,
  durationMs,
  InvalidError,
  type LaunchOrder,
  refuseUnknownKeys,
  systemClock,
} from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { AddressPolicy, type Resolve } from './addresses.ts'
import { SIGNATURE_VERSIONS, type SignatureVersion, secretKey } from './signature.ts'

export interface HttpLauncherOptions {
  readonly name?: string
  /** Actions are sent to <baseUrl>/plugin/runtime/<pluginId>/execute. */
  readonly baseUrl?: string
  /**
   * What differs for single actions: the plugin (the action's name if not given), or the whole address; and the secret, so that
   * a receiver can't sign for another one.
   */
  readonly actions?: Readonly<Record<string, HttpTarget>>
  /** Signs every request to a target without a secret of its own: 'whsec_…'. With several, each signs, so that receivers can change over. */
  readonly secret?: string | readonly string[]
  /** Which signatures requests carry; all if not given. `['v3']` once every receiver checks that one. */
  readonly signatures?: readonly SignatureVersion[]
  /** Hosts and networks that may be called though they are not public: 'plugins.internal', '10.0.0.0/8'. */
  readonly allow?: readonly string[]
  /** How long launch() waits for an answer before it comes back and the answer is kept for look(). */
  readonly answerWithin?: Duration
  /** How long a question about a launch may take. */
  readonly statusWithin?: Duration
  /** Where workers that answer 202 report their end. */
  readonly callbackUrl?: string
  /** Where to ask about a launch whose handle nobody noted, its orchestrator having died. */
  readonly statusUrl?: (key: string) => string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** A certificate authority to trust instead of the usual ones, as PEM. */
  readonly ca?: string
  /** Resolves host names; DNS if not given. */
  readonly resolve?: Resolve
  readonly clock?: Clock
}

export interface HttpTarget {
  readonly pluginId?: string
  readonly url?: string
  readonly secret?: string | readonly string[]
}

/** Where requests go, and what signs them. */
export interface Target {
  readonly url: URL
  readonly keys: readonly Buffer[]
}

const CHECKS: check.Table<HttpLauncherOptions> = {
  name: check.text,
  baseUrl: check.text,
  actions: check.anything,
  secret: check.anything,
  signatures: check.anything,
  allow: check.texts("['10.0.0.0/8']"),
  answerWithin: check.anything,
  statusWithin: check.anything,
  callbackUrl: check.text,
  statusUrl: check.func,
  headers: check.anything,
  ca: check.text,
  resolve: check.func,
  clock: check.having('now', 'monotonic', 'after'),
}

const ANSWER_WITHIN_MS = 2_000
const STATUS_WITHIN_MS = 5_000

export type HttpSettings = ReturnType<typeof httpSettings>

export function httpSettings(options: HttpLauncherOptions) {
  check.options(options, CHECKS, 'HTTP launcher option')
  const signatures = options.signatures ?? SIGNATURE_VERSIONS
  if (signatures.length === 0 || signatures.some((version) => !SIGNATURE_VERSIONS.includes(version))) {
    throw new InvalidError(`'signatures' must be a list of some of ${SIGNATURE_VERSIONS.join(', ')}.`)
  }
  return {
    name: options.name ?? 'http',
    ...targets(options),
    signatures,
    policy: new AddressPolicy(options.allow ?? [], options.resolve),
    answerWithinMs: durationMs(options.answerWithin ?? ANSWER_WITHIN_MS, 'answerWithin'),
    statusWithinMs: durationMs(options.statusWithin ?? STATUS_WITHIN_MS, 'statusWithin'),
    callbackUrl: options.callbackUrl === undefined ? null : webUrl(options.callbackUrl, 'callbackUrl').href,
    statusUrl: options.statusUrl ?? null,
    headers: options.headers ?? {},
    ca: options.ca,
    clock: options.clock ?? systemClock,
  }
}

/** Where orders are sent and what signs them, and where handles may point to. */
function targets({ name = 'http', baseUrl, actions = {}, secret }: HttpLauncherOptions) {
  const shared = keysOf(secret)
  const base = baseUrl === undefined ? null : { url: webUrl(baseUrl, 'baseUrl'), keys: needed(shared) }
  const known = new Map<string, Target>()
  for (const [action, target] of Object.entries(actions)) {
    refuseUnknownKeys(target, ['pluginId', 'url', 'secret'], 'action target')
    const keys = needed(keysOf(target.secret) ?? shared, action)
    if (target.url !== undefined) known.set(action, { url: webUrl(target.url, `url of action '${action}'`), keys })
    else if (base !== null) known.set(action, { url: pluginUrl(base.url, target.pluginId ?? action), keys })
    else throw new InvalidError(`Action '${action}' has no url, and there is no baseUrl.`)
  }
  if (base === null && known.size === 0)
    throw new InvalidError('An HTTP launcher needs a baseUrl, or actions with urls.')
  const all = [...(base === null ? [] : [base]), ...known.values()]
  return {
    targetOf: ({ action }: Pick<LaunchOrder, 'action'>): Target => {
      const target = known.get(action)
      if (target !== undefined) return target
      if (base !== null) return { url: pluginUrl(base.url, action), keys: base.keys }
      const message = `The launcher '${name}' has no url for action '${action}'. Add one to its actions, or a baseUrl.`
      throw describedFailure({ code: 'action_not_found', says: 'permanent', message })
    },
    origins: new Set(all.map(({ url }) => url.origin)),
    /** Of all targets there: what signs a question about a launch of which no more is known. */
    keysAt: (origin: string): readonly Buffer[] => {
      const there = all.filter(({ url }) => url.origin === origin).flatMap(({ keys }) => keys)
      // A status address that is configured may stand elsewhere.
      return there.length > 0 ? [...new Set(there)] : (shared ?? [])
    },
  }
}

function keysOf(secret: string | readonly string[] | undefined): readonly Buffer[] | null {
  if (secret === undefined) return null
  const secrets = typeof secret === 'string' ? [secret] : secret
  return Array.isArray(secrets) && secrets.length > 0 ? secrets.map(secretKey) : null
}

function needed(keys: readonly Buffer[] | null, action?: string): readonly Buffer[] {
  if (keys !== null) return keys
  const where = action === undefined ? '' : ` for action '${action}'`
  throw new InvalidError(`An HTTP launcher needs a secret to sign with${where}.`)
}

function pluginUrl(base: URL, pluginId: string): URL {
  return new URL(`${base.href.replace(/\/+$/, '')}/plugin/runtime/${encodeURIComponent(pluginId)}/execute`)
}

function webUrl(text: string, what: string): URL {
  if (!URL.canParse(text)) throw new InvalidError(`The ${what} is no URL: '${text.slice(0, 100)}'.`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new InvalidError(`The ${what} must be http or https.`)
  if (url.username !== '' || url.password !== '') {
    throw new InvalidError(`The ${what} holds a password. Use 'headers' for what the receiver wants to know.`)
  }
  if (url.search !== '' || url.hash !== '') throw new InvalidError(`The ${what} must not have a query or a fragment.`)
  return url
}

/** The body of the request. The payload goes in as it is, not decoded and encoded again. */
export function requestBody(order: LaunchOrder, callbackUrl: string | null): string {
  const { taskId, attempt, token, retryToken, action, tenant, labels, timeoutMs, payload } = order
  const rest = { taskId, attempt, token, retryToken, action, tenant, labels, timeoutMs }
  const text = JSON.stringify(callbackUrl === null ? rest : { ...rest, callbackUrl })
  return `${text.slice(0, -1)},"payload":${payload}}`
}

/** The key as a header can carry it: task ids may hold any character. */
export const idempotencyKey = (key: string): string => key.replaceAll(/[^\x21-\x24\x26-\x7e]+/g, encodeURIComponent)

/** The same for every try of one launch, and without a dot, which separates the parts of what is signed. */
export const messageId = (key: string): string =>
  `launch_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`

// The options of the HTTP launcher, checked and completed once; and from an order to where it is sent and what.

import { createHash } from 'node:crypto'
import {
  type Clock,
  type Duration,
  durationMs,
  InvalidError,
  type LaunchOrder,
  refuseUnknownKeys,
  systemClock,
} from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { checkedTexts } from '../option-lists.ts'
import { AddressPolicy, type Resolve } from './addresses.ts'
import { secretKey } from './signature.ts'

export interface HttpLauncherOptions {
  readonly name?: string
  /** Actions are sent to <baseUrl>/plugin/runtime/<pluginId>/execute. */
  readonly baseUrl?: string
  /** What differs for single actions: the plugin (the action's name if not given), or the whole address. */
  readonly actions?: Readonly<Record<string, { readonly pluginId?: string; readonly url?: string }>>
  /** Signs every request: 'whsec_…'. With several, each signs, so that receivers can change over. */
  readonly secret: string | readonly string[]
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

export interface HttpSettings {
  readonly name: string
  readonly urlOf: (order: LaunchOrder) => URL
  /** Where handles may point to. */
  readonly origins: ReadonlySet<string>
  readonly keys: readonly Buffer[]
  readonly policy: AddressPolicy
  readonly answerWithinMs: number
  readonly statusWithinMs: number
  readonly callbackUrl: string | null
  readonly statusUrl: ((key: string) => string) | null
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string | undefined
  readonly clock: Clock
}

const KNOWN_OPTIONS = [
  'name',
  'baseUrl',
  'actions',
  'secret',
  'allow',
  'answerWithin',
  'statusWithin',
  'callbackUrl',
  'statusUrl',
  'headers',
  'ca',
  'resolve',
  'clock',
] as const satisfies (keyof HttpLauncherOptions)[]

const ANSWER_WITHIN_MS = 2_000
const STATUS_WITHIN_MS = 5_000

export function httpSettings(options: HttpLauncherOptions): HttpSettings {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'HTTP launcher option')
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new InvalidError('An HTTP launcher needs a secret to sign with.')
  const { urlOf, origins } = targets(options)
  return {
    name: options.name ?? 'http',
    urlOf,
    origins,
    keys: secrets.map(secretKey),
    policy: new AddressPolicy(checkedTexts(options.allow ?? [], 'allow', "['10.0.0.0/8']"), options.resolve),
    answerWithinMs: durationMs(options.answerWithin ?? ANSWER_WITHIN_MS, 'answerWithin'),
    statusWithinMs: durationMs(options.statusWithin ?? STATUS_WITHIN_MS, 'statusWithin'),
    callbackUrl: options.callbackUrl === undefined ? null : webUrl(options.callbackUrl, 'callbackUrl').href,
    statusUrl: options.statusUrl ?? null,
    headers: options.headers ?? {},
    ca: options.ca,
    clock: options.clock ?? systemClock,
  }
}

function targets({
  name = 'http',
  baseUrl,
  actions = {},
}: HttpLauncherOptions): Pick<HttpSettings, 'urlOf' | 'origins'> {
  const base = baseUrl === undefined ? null : webUrl(baseUrl, 'baseUrl')
  const known = new Map<string, URL>()
  for (const [action, target] of Object.entries(actions)) {
    refuseUnknownKeys(target, ['pluginId', 'url'], 'action target')
    if (target.url !== undefined) known.set(action, webUrl(target.url, `url of action '${action}'`))
    else if (base !== null) known.set(action, pluginUrl(base, target.pluginId ?? action))
    else throw new InvalidError(`Action '${action}' has no url, and there is no baseUrl.`)
  }
  if (base === null && known.size === 0)
    throw new InvalidError('An HTTP launcher needs a baseUrl, or actions with urls.')
  return {
    urlOf: ({ action }) => {
      const url = known.get(action) ?? (base === null ? undefined : pluginUrl(base, action))
      if (url !== undefined) return url
      const message = `The launcher '${name}' has no url for action '${action}'. Add one to its actions, or a baseUrl.`
      throw describedFailure({ code: 'action_not_found', says: 'permanent', message })
    },
    origins: new Set([...(base === null ? [] : [base]), ...known.values()].map(({ origin }) => origin)),
  }
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

// What an ephemeral worker is for: one attempt of one task, its credential, and where to call back. A launcher puts it into the
// environment of a process or container, and into the event of a function.

import { checkedText, InvalidError } from '@reprise/core'

export interface EphemeralOrder {
  readonly taskId: string
  readonly attempt: number
  /** The credential of this attempt, and of no other. */
  readonly token: string
  /** `https://<server>/task-complete`. */
  readonly callbackUrl: string
  /** If the launcher brought it along; otherwise it is fetched with the credential. */
  readonly payload?: unknown
  /** Needed where the payload came along; otherwise they come with it. */
  readonly action?: string
  readonly tenant?: string
  readonly retryToken?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

type Environment = Readonly<Record<string, string | undefined>>

const TEXT_LENGTH_MAX = 10_000
const CALLBACK_PATH = '/task-complete'

/** Where each field stands in an environment. */
const VARIABLES = {
  taskId: 'REPRISE_TASK_ID',
  attempt: 'REPRISE_ATTEMPT',
  token: 'REPRISE_LEASE_TOKEN',
  callbackUrl: 'REPRISE_CALLBACK_URL',
} as const

/** `InvalidError` names what is missing. */
export function orderFromEnvironment(environment: Environment = process.env): EphemeralOrder {
  const given = Object.fromEntries(Object.entries(VARIABLES).map(([field, name]) => [field, environment[name]]))
  return checkedOrder({ ...given, attempt: Number(given.attempt) }, (field) => VARIABLES[field])
}

/** The order as a launcher wrote it into an event, checked. */
export const orderFromEvent = (event: unknown): EphemeralOrder =>
  checkedOrder(typeof event === 'object' && event !== null ? event : {}, (field) => `${field} of the order`)

function checkedOrder(given: object, nameOf: (field: keyof typeof VARIABLES) => string): EphemeralOrder {
  const order = given as EphemeralOrder
  for (const field of ['taskId', 'token', 'callbackUrl'] as const) {
    if (typeof order[field] !== 'string' || order[field] === '') throw missing(nameOf(field))
    checkedText(nameOf(field), order[field], TEXT_LENGTH_MAX)
  }
  if (!Number.isSafeInteger(order.attempt) || order.attempt < 1) throw missing(nameOf('attempt'))
  serverOf(order)
  return order
}

const missing = (name: string): InvalidError =>
  new InvalidError(
    `${name} is missing. An ephemeral worker runs where a launcher of Reprise started it: see docs/ephemeral-workers.md.`,
  )

/** The server that it calls back to: what stands before the path. */
export function serverOf({ callbackUrl }: Pick<EphemeralOrder, 'callbackUrl'>): string {
  if (URL.canParse(callbackUrl) && callbackUrl.endsWith(CALLBACK_PATH))
    return callbackUrl.slice(0, -CALLBACK_PATH.length)
  throw new InvalidError(`The address to call back to must end in ${CALLBACK_PATH}, as that of a Reprise server does.`)
}

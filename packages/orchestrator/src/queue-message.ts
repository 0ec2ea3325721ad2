// What a message of an outside queue says, and how a retry is written as one: the captured snapshot with the next attempt (A10).
// A message that came in and one that we publish have the same shape. What it says about settings counts for nothing: they are
// those of the action, or of the task that the store has.

import {
  type ActionName,
  actionName,
  type CompletionWishes,
  DEFAULT_TENANT,
  encodeJson,
  InvalidError,
  JSON_DEPTH_MAX,
  type KnownActions,
  messageAttempt,
  messageBytes,
  type OutgoingMessage,
  ownerOfId,
  type QueueDelivery,
  type Snapshot,
  type Task,
  TooLargeError,
  taskSpecOf,
  tenantId,
  withLabel,
} from '@reprise/core'
import type { LaunchMessage } from './launch.ts'

/** On a task that came by an outside queue: the queue's name. A retry goes back to it. */
export const QUEUE_LABEL = 'outside_queue'
/** The group of its message, in a queue that keeps an order. */
export const GROUP_LABEL = 'outside_group'
/** The attribute of a message that names the action (A10). */
export const TYPE_ATTRIBUTE = 'taskType'
/** On a message that was moved by us: the id of the task that it is about, which its text does not say. */
export const ID_ATTRIBUTE = 'taskId'

/** Ids that are made of an Idempotency-Key or of an event are nobody's to choose. */
const DERIVED_ID = /^(?:key|event)-/
/** Queues refuse these two characters, and JSON has another way to write them. */
const NONCHARACTERS = /[\uFFFE\uFFFF]/g

export interface MessageContext {
  readonly queue: string
  readonly catalogue: KnownActions
  readonly wishes: CompletionWishes
}

/** The task, and the attempt, that a message asks for. Throws `InvalidError`, or `TooLargeError`, for one that nobody can read. */
export async function readMessage(delivery: QueueDelivery, context: MessageContext): Promise<LaunchMessage> {
  const { queue, catalogue, wishes } = context
  const said = objectIn(delivery.body)
  const action = await catalogue.find(actionOf(said, delivery))
  const tenant = said.tenant === undefined ? DEFAULT_TENANT : tenantId(textOf(said, 'tenant'))
  await wishes.look()
  const settings = wishes.settingsFor(action.settings, action.name, tenant)
  const request = {
    id: idOf(said, delivery, tenant),
    pool: optionalText(said, 'pool'),
    // Checked by core, as those of any submission are.
    labels: (said.labels ?? undefined) as never,
    priority: (said.priority ?? undefined) as never,
    retryToken: optionalText(said, 'retryToken'),
    dedupeKey: optionalText(said, 'dedupeKey'),
    deadlineAt: momentOf(said, 'deadlineAt'),
  }
  const spec = taskSpecOf(request, encodeJson(said.payload ?? null, 'payload'), {
    action: { ...action, settings },
    tenant,
  })
  const named = withLabel(spec, QUEUE_LABEL, queue)
  const { group } = delivery
  return { task: group === null ? named : withLabel(named, GROUP_LABEL, group), attempt: messageAttempt(said.attempt) }
}

/** The retry of a task as a message. */
export function retryMessage(task: Snapshot | Task, attempt: number): OutgoingMessage {
  const { id, action, tenant, pool, labels, priority, retryToken, dedupeKey, deadlineAt, settings } = task
  const terms = { id, action, tenant, pool, labels, priority, retryToken, dedupeKey, deadlineAt, settings, attempt }
  // Nothing that was not set: null is no name.
  const head = JSON.stringify(terms, (_, value: unknown) => (value === null ? undefined : value))
  return {
    body: `${head.slice(0, -1)},"payload":${task.payload}}`.replaceAll(NONCHARACTERS, escaped),
    attributes: { [TYPE_ATTRIBUTE]: action },
    group: labels[GROUP_LABEL] ?? id,
    dedupeId: `${id}:${attempt}`,
  }
}

/** Refuses what the queue would refuse, before anything is stored. */
export function refuseTooLarge(message: OutgoingMessage, maxMessageBytes: number): void {
  const bytes = messageBytes(message)
  if (bytes > maxMessageBytes) throw new TooLargeError('message for the queue', bytes, maxMessageBytes)
}

type Said = Readonly<Record<string, unknown>>

function objectIn(body: string): Said {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new InvalidError('The message is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidError(
      `The message must be a JSON object with 'action' and 'payload', at most ${JSON_DEPTH_MAX} deep.`,
    )
  }
  return value as Said
}

function actionOf(said: Said, { attributes }: QueueDelivery): ActionName {
  const named = optionalText(said, 'action')
  const type = attributes[TYPE_ATTRIBUTE]
  const name = named ?? type
  if (name === undefined)
    throw new InvalidError(`The message names no action: give 'action', or the attribute ${TYPE_ATTRIBUTE}.`)
  if (type !== undefined && type !== name) {
    throw new InvalidError(
      `The message is for the action '${name}', and its attribute ${TYPE_ATTRIBUTE} says '${type}'.`,
    )
  }
  return actionName(name)
}

/** The same for every delivery of one message: without an id of its own, the message's. */
function idOf(said: Said, { attributes, messageId }: QueueDelivery, tenant: string): string {
  const id = optionalText(said, 'id')
  if (id === undefined) return attributes[ID_ATTRIBUTE] ?? derivedId(messageId)
  if (DERIVED_ID.test(id))
    throw new InvalidError("Ids that begin with 'key-' or 'event-' are drawn by the server. Use another one.")
  const owner = ownerOfId(id)
  if (owner !== null && owner.tenant !== tenant) {
    throw new InvalidError(`The id '${id}' is one of tenant '${owner.tenant}', and the message is for '${tenant}'.`)
  }
  return id
}

/** The id of the task of a message that names none. */
export const derivedId = (messageId: string): string => `message-${messageId}`

function optionalText(said: Said, name: string): string | undefined {
  return said[name] === undefined || said[name] === null ? undefined : textOf(said, name)
}

function textOf(said: Said, name: string): string {
  const value = said[name]
  if (typeof value === 'string') return value
  throw new InvalidError(`'${name}' in the message must be a text, not ${typeof value}.`)
}

function momentOf(said: Said, name: string): number | undefined {
  const value = said[name]
  if (value === undefined || value === null) return undefined
  const at = typeof value === 'string' ? Date.parse(value) : value
  if (typeof at === 'number' && !Number.isNaN(new Date(at).getTime())) return at
  throw new InvalidError(`'${name}' in the message is not a moment.`)
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16)}`

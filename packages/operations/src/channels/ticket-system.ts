// How an outside system of work orders is spoken to: it is asked for the ticket with our key, asked for a new one, and told of a
// change. The paths, and where its answers have what we look for, are settings of the channel. Nothing here stores anything.

import type { Channel, TicketThere } from '@reprise/core'
import { leadsOut } from '@reprise/orchestrator'
import type { Called, SendResult, TargetCall, WebhookTarget } from '../events/webhook-target.ts'
import { type Facts, filled } from './messages.ts'
import { type SettingsOf, settingsOf } from './settings.ts'

type Settings = SettingsOf<'work_orders'>

export interface Looked {
  readonly result: SendResult
  /** Null if there is none, or the look failed. */
  readonly there: TicketThere | null
}

export interface Made extends Looked {
  /** Whether the system may still make one, though it has not said so. */
  readonly mayBeUnderWay: boolean
}

/** Of a ticket with our key, among others perhaps. */
const ANSWER_BYTES = 65_536
const TEXT_LENGTH_MAX = 200
const URL_LENGTH_MAX = 2_000

export class TicketSystem {
  readonly #target: WebhookTarget

  constructor(target: WebhookTarget) {
    this.#target = target
  }

  /** The ticket with this key. A system that has no such path has none. */
  async find(channel: Channel, key: string, signal: AbortSignal): Promise<Looked> {
    const settings = settingsOf(channel, 'work_orders')
    const called = await this.#call(settings, 'GET', pathOf(settings.findPath, { key }), '', signal)
    if (isUnknownPath(called)) return { result: fine(called.result), there: null }
    if (called.result.verdict !== 'delivered') return { result: called.result, there: null }
    const found = jsonOf(called)
    if (found === undefined) return { result: unreadable(called.result), there: null }
    const ours = candidatesOf(found, settings).find((one) => hasKey(one, settings, key))
    return { result: called.result, there: ours === undefined ? null : ticketOf(ours, settings) }
  }

  async create(channel: Channel, facts: Facts, body: unknown, signal: AbortSignal): Promise<Made> {
    const settings = settingsOf(channel, 'work_orders')
    const { template, createPath } = settings
    const text = JSON.stringify(template === undefined ? body : filled(template, facts))
    const key = String(facts.key)
    const called = await this.#call(settings, 'POST', pathOf(createPath, facts), text, signal, key)
    const { result } = called
    // It has one with this key already.
    if (result.log.status === 409) return { ...(await this.find(channel, key, signal)), mayBeUnderWay: false }
    if (result.verdict !== 'delivered') return { result, there: null, mayBeUnderWay: isUnderWay(called) }
    const there = ticketOf(jsonOf(called), settings)
    if (there.id !== null) return { result, there, mayBeUnderWay: false }
    // It did not say which: that is found by our key, or stays unknown.
    const looked = await this.find(channel, key, signal)
    return { result, there: looked.there ?? there, mayBeUnderWay: false }
  }

  /** Null if it can not be told, by its settings or by what is known of the ticket. */
  async update(channel: Channel, id: string | null, facts: Facts, signal: AbortSignal): Promise<SendResult | null> {
    const settings = settingsOf(channel, 'work_orders')
    const { updatePath, updateTemplate } = settings
    if (updatePath === 'none' || id === null) return null
    const { key, status, result = '', severity, owner = '' } = facts
    const body = updateTemplate === undefined ? { key, status, result, severity, owner } : filled(updateTemplate, facts)
    const path = pathOf(updatePath, { ...facts, id })
    // Ids come from outside: one such as '..' would send our secrets to another path.
    if (leadsOut(path)) return null
    return (
      await this.#call(settings, 'PATCH', path, JSON.stringify(body), signal, `${String(key)}.${String(facts.since)}`)
    ).result
  }

  #call(
    { url, headers = {} }: Settings,
    method: TargetCall['method'],
    path: string,
    body: string,
    signal: AbortSignal,
    idempotencyKey?: string,
  ): Promise<Called> {
    const once = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const all = { ...once, ...headers }
    const address = `${url.replace(/\/+$/, '')}${path}`
    return this.#target.call({ method, url: address, body, headers: () => all, signal, answerBytes: ANSWER_BYTES })
  }
}

const pathOf = (path: string, facts: Facts): string =>
  path.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(facts, name) ? encodeURIComponent(String(facts[name])) : '',
  )

const fine = (result: SendResult): SendResult => ({
  ...result,
  verdict: 'delivered',
  retryAfterMs: null,
  log: { ...result.log, error: null },
})

const unreadable = (result: SendResult): SendResult => ({
  ...result,
  verdict: 'failed',
  log: { ...result.log, error: `Its answer is not JSON of at most ${ANSWER_BYTES} bytes.` },
})

const isUnknownPath = ({ answer }: Called): boolean =>
  answer !== null && (answer.status === 404 || answer.status === 405 || answer.status === 501)

/** The request arrived, and nobody knows what came of it: it may still be at work. */
function isUnderWay({ answer, wasSent }: Called): boolean {
  if (answer === null) return wasSent
  return answer.status === 408 || answer.status === 502 || answer.status === 504
}

/** Undefined for what is no JSON; null for nothing. */
function jsonOf({ answer }: Called): unknown {
  const text = answer?.body.trim() ?? ''
  if (text === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** One ticket, a list of them, or an object that has a list. */
function candidatesOf(answer: unknown, { fields }: Settings): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  const items = at(answer, fields.items)
  return Array.isArray(items) ? items : [answer]
}

/** A system that does not know our question may answer with all that it has: only what has our key is ours. */
function hasKey(candidate: unknown, { fields }: Settings, key: string): boolean {
  const found = at(candidate, fields.key)
  return Array.isArray(found) ? found.includes(key) : found === key
}

function ticketOf(value: unknown, { fields, closed }: Settings): TicketThere {
  const status = textOf(at(value, fields.status))
  return {
    id: textOf(at(value, fields.id)),
    url: webAddressOf(at(value, fields.url)),
    status,
    isClosed: isClosedThere(status, closed),
  }
}

export const isClosedThere = (status: string | null, closed: readonly string[]): boolean =>
  status !== null && closed.some((one) => one.toLowerCase() === status.toLowerCase())

function at(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

const textOf = (value: unknown): string | null =>
  (typeof value === 'string' && value !== '') || typeof value === 'number'
    ? String(value).slice(0, TEXT_LENGTH_MAX).toWellFormed()
    : null

/** It becomes a link: nothing but the web. */
export function webAddressOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > URL_LENGTH_MAX || !URL.canParse(value)) return null
  const { protocol, href } = new URL(value)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}

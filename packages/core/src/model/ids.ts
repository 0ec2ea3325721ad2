// The names and ids of the domain, each a branded string that was checked where it came in. Everything past the edge
// (engines, services) can then trust them. Names are refused here, once, rather than escaped in many places later.

import type { Brand } from './brand.ts'
import { InvalidError } from './errors.ts'
import { UNSEEN } from './unseen.ts'

export type TaskId = Brand<string, 'TaskId'>
export type ActionName = Brand<string, 'ActionName'>
export type PoolName = Brand<string, 'PoolName'>
export type TenantId = Brand<string, 'TenantId'>
export type WorkerId = Brand<string, 'WorkerId'>
/** Fences everybody but the holder of one lease. Opaque; never used twice in one store. */
export type LeaseToken = Brand<string, 'LeaseToken'>
/** Stable for the whole life of a task, so that an executor can make its effects idempotent. */
export type RetryToken = Brand<string, 'RetryToken'>
export type Fingerprint = Brand<string, 'Fingerprint'>

export const NAME_LENGTH_MAX = 200

export const DEFAULT_POOL = 'default' as PoolName
export const DEFAULT_TENANT = 'default' as TenantId

// Control characters, DEL, the C1 block, and separators that terminals and logs treat as line ends.
const FORBIDDEN_CHARACTER = /[\p{Cc}\u2028\u2029]/u

// '.' or '..' alone, '..' before a separator, and a last segment '..'; each also percent-encoded.
const CLIMBING = /^(?:\.|%2e){1,2}$|(?:\.|%2e){2}(?:[\\/]|%2f|%5c)|(?:[\\/]|%2f|%5c)(?:\.|%2e){2}$/i

export const taskId = (value: string): TaskId => checkedName('task id', value) as TaskId
export const actionName = (value: string): ActionName => checkedName('action name', value) as ActionName
export const poolName = (value: string): PoolName => checkedName('pool name', value) as PoolName
export const tenantId = (value: string): TenantId => checkedName('tenant', value) as TenantId
export const workerId = (value: string): WorkerId => checkedName('worker id', value) as WorkerId
export const retryToken = (value: string): RetryToken => checkedName('retry token', value) as RetryToken
export const leaseToken = (value: string): LeaseToken => checkedName('lease token', value) as LeaseToken

/**
 * Returns the text if it can be a name everywhere: stored, logged, put in a URL and shown, and not taken for another; throws
 * `InvalidError` if not.
 */
export function checkedName(what: string, value: unknown): string {
  const name = knownName(what, value)
  const unseen = UNSEEN.exec(name)?.[0].codePointAt(0)
  if (unseen === undefined) return name
  throw new InvalidError(`The ${what} contains a character that nobody sees (U+${unseen.toString(16)}).`)
}

/** For looking something up, and removing it: it may have got its name when names could still have unseen characters. */
export function knownName(what: string, value: unknown): string {
  const name = checkedText(what, value, NAME_LENGTH_MAX)
  if (CLIMBING.test(name)) throw new InvalidError(`The ${what} must not contain a path that climbs ('..').`)
  return name
}

/** Returns the text if it is one line that can be stored, logged and shown; throws `InvalidError` if not. */
export function checkedText(what: string, value: unknown, maxLength: number): string {
  if (typeof value !== 'string') throw new InvalidError(`The ${what} must be a string, not ${typeof value}.`)
  if (value.length === 0) throw new InvalidError(`The ${what} must not be empty.`)
  if (value.length > maxLength) {
    throw new InvalidError(`The ${what} has ${value.length} characters; at most ${maxLength} are allowed.`)
  }
  if (FORBIDDEN_CHARACTER.test(value)) throw new InvalidError(`The ${what} contains a control character.`)
  if (!value.isWellFormed()) throw new InvalidError(`The ${what} contains half of a surrogate pair.`)
  return value
}

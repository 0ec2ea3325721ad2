// Changes of a JSON value: a JSON Patch (RFC 6902), which is a list of operations, or a merge patch (RFC 7396), which is an object
// with the members that differ. Whatever the patch, the work is bounded, and others have their turn in between: a list of copies could
// double a value a hundred times. What a patch changes, for people to look at, is in json-changes.ts.

import type { Turns } from '../runtime/turns.ts'
import { InvalidError, TooLargeError } from './errors.ts'
import { decodeJson, encodeJson, type JsonText, PAYLOAD_BYTES_MAX } from './json.ts'

export { type JsonChange, jsonChanges } from './json-changes.ts'

interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  /** Where, as a JSON Pointer (RFC 6901): `/customer/0/name`. */
  readonly path: string
  readonly from?: string | undefined
  readonly value?: unknown
}

/** A list of operations, or an object to merge. */
export type JsonPatch = readonly PatchOperation[] | Readonly<Record<string, unknown>>

const PATCH_BYTES_MAX = 16_384
const OPERATIONS_MAX = 100
const OPERATIONS: ReadonlySet<string> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

/** Throws `InvalidError` if it is neither a JSON Patch nor a merge patch. */
export function checkedPatch(patch: unknown): JsonPatch {
  encodeJson(patch, 'patch', PATCH_BYTES_MAX)
  if (typeof patch !== 'object' || patch === null) {
    throw new InvalidError('A patch is a list of operations (RFC 6902), or an object to merge (RFC 7396).')
  }
  if (!Array.isArray(patch)) return patch as Readonly<Record<string, unknown>>
  if (patch.length === 0 || patch.length > OPERATIONS_MAX) {
    throw new InvalidError(`A patch has between 1 and ${OPERATIONS_MAX} operations, not ${patch.length}.`)
  }
  for (const [at, operation] of (patch as unknown[]).entries()) checkOperation(operation, at)
  return patch as readonly PatchOperation[]
}

function checkOperation(operation: unknown, at: number): void {
  const wrong = (what: string): InvalidError => new InvalidError(`Operation ${at + 1} of the patch ${what}.`)
  if (typeof operation !== 'object' || operation === null) throw wrong('is no object')
  const { op, path, from } = operation as Partial<Record<keyof PatchOperation, unknown>>
  if (typeof op !== 'string' || !OPERATIONS.has(op)) throw wrong(`has no 'op' that RFC 6902 knows`)
  if (typeof path !== 'string' || !isPointer(path)) throw wrong(`has no 'path' such as /customer/name`)
  if ((op === 'move' || op === 'copy') && (typeof from !== 'string' || !isPointer(from))) throw wrong(`has no 'from'`)
  if ((op === 'add' || op === 'replace' || op === 'test') && !('value' in operation)) throw wrong(`has no 'value'`)
}

const isPointer = (text: string): boolean => text === '' || text.startsWith('/')

/** The text with the patch applied. Throws `InvalidError` where the patch does not fit, or `TooLargeError`: then nothing of it is. */
export async function patchedJson(
  text: JsonText,
  patch: JsonPatch,
  turns: Pick<Turns, 'isSpent' | 'wait'>,
): Promise<JsonText> {
  if (turns.isSpent) await turns.wait()
  // Nobody else has it: it is changed where it is.
  let value = decodeJson(text)
  if (isOperations(patch)) {
    const copies = { left: PAYLOAD_BYTES_MAX }
    for (const operation of patch) {
      if (turns.isSpent) await turns.wait()
      value = applied(value, operation, copies)
    }
  } else value = merged(value, patch)
  if (turns.isSpent) await turns.wait()
  return encodeJson(value, 'patched payload')
}

const isOperations = (patch: JsonPatch): patch is readonly PatchOperation[] => Array.isArray(patch)

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is the one that a patch expects, which is short: members of an object have no order. */
function isSame(value: unknown, expected: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(expected)) {
    return value.length === expected.length && expected.every((item, at) => isSame(value[at], item))
  }
  if (!isObject(value) || !isObject(expected)) return value === expected
  const names = Object.keys(expected)
  return (
    names.every((name) => Object.hasOwn(value, name) && isSame(value[name], expected[name])) &&
    names.length === Object.keys(value).length
  )
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Members = isObject(target) ? target : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name)
    else setMember(result, name, merged(Object.hasOwn(result, name) ? result[name] : undefined, value))
  }
  return result
}

/** Also a member that is called `__proto__` is a member and nothing else. */
function setMember(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true })
}

/** How much more all copies of one patch may take together, in characters. */
interface CopyRoom {
  left: number
}

function applied(value: unknown, operation: PatchOperation, copies: CopyRoom): unknown {
  const { op, path } = operation
  switch (op) {
    case 'add':
      return added(value, path, structuredClone(operation.value))
    case 'remove':
      return removed(value, path)
    case 'replace':
      valueAt(value, path)
      return path === '' ? structuredClone(operation.value) : replaced(value, path, structuredClone(operation.value))
    case 'move': {
      const { from = '' } = operation
      if (path.startsWith(`${from}/`)) throw new InvalidError(`The patch moves ${from} into itself.`)
      const moved = valueAt(value, from)
      return added(removed(value, from), path, moved)
    }
    case 'copy':
      return added(value, path, copied(valueAt(value, operation.from ?? ''), copies))
    case 'test':
      if (isSame(valueAt(value, path), operation.value)) return value
      throw new InvalidError(`The patch expects another value at ${path}.`)
  }
}

function copied(value: unknown, copies: CopyRoom): unknown {
  const text = JSON.stringify(value)
  copies.left -= text.length
  if (copies.left < 0) throw new TooLargeError('patched payload', PAYLOAD_BYTES_MAX - copies.left, PAYLOAD_BYTES_MAX)
  return JSON.parse(text)
}

const missing = (path: string): InvalidError => new InvalidError(`The patch names ${path}, which is not there.`)

/** The names and places of a JSON Pointer. */
export const pointerSteps = (path: string): string[] =>
  path === ''
    ? []
    : path
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

function valueAt(value: unknown, path: string): unknown {
  return memberAt(value, pointerSteps(path), path)
}

function memberAt(value: unknown, steps: readonly string[], path: string): unknown {
  let found = value
  for (const step of steps) {
    if (Array.isArray(found)) found = found[placeIn(found, step, path, 0)]
    else if (isObject(found) && Object.hasOwn(found, step)) found = found[step]
    else throw missing(path)
  }
  return found
}

/** `room` is 1 if the place behind the last one counts. */
function placeIn(list: readonly unknown[], step: string, path: string, room: 0 | 1): number {
  const place = step === '-' && room === 1 ? list.length : Number(step)
  const isPlace = (step === '-' && room === 1) || /^(?:0|[1-9]\d*)$/.test(step)
  if (!isPlace || place >= list.length + room) throw missing(path)
  return place
}

/** The value, after `change` was made to the holder of `path`. */
function within(value: unknown, path: string, change: (holder: unknown[] | Members, step: string) => void): unknown {
  const steps = pointerSteps(path)
  const last = steps.pop()
  if (last === undefined) throw missing(path)
  const holder = memberAt(value, steps, path)
  if (typeof holder !== 'object' || holder === null) throw missing(path)
  change(holder as unknown[] | Members, last)
  return value
}

function added(value: unknown, path: string, member: unknown): unknown {
  if (path === '') return member
  return within(value, path, (holder, step) => {
    if (Array.isArray(holder)) holder.splice(placeIn(holder, step, path, 1), 0, member)
    else setMember(holder, step, member)
  })
}

function replaced(value: unknown, path: string, member: unknown): unknown {
  return within(value, path, (holder, step) => {
    if (Array.isArray(holder)) holder[placeIn(holder, step, path, 0)] = member
    else setMember(holder, step, member)
  })
}

function removed(value: unknown, path: string): unknown {
  valueAt(value, path)
  return within(value, path, (holder, step) => {
    if (Array.isArray(holder)) holder.splice(placeIn(holder, step, path, 0), 1)
    else Reflect.deleteProperty(holder, step)
  })
}

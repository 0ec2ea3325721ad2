// Changes of a JSON value: a JSON Patch (RFC 6902), which is a list of operations, or a merge patch (RFC 7396), which is an object
// with the members that differ. And the difference of two values, for people to look at before anything is changed.

import { InvalidError } from './errors.ts'
import { decodeJson, encodeJson, type JsonText } from './json.ts'

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

/** The text with the patch applied. Throws `InvalidError` where the patch does not fit: then nothing of it is applied. */
export function patchedJson(text: JsonText, patch: JsonPatch): JsonText {
  const value = decodeJson(text)
  return encodeJson(isOperations(patch) ? patch.reduce(applied, value) : merged(value, patch), 'patched payload')
}

const isOperations = (patch: JsonPatch): patch is readonly PatchOperation[] => Array.isArray(patch)

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two JSON values are equal: members of an object have no order. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Members = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name)
    else setMember(result, name, merged(result[name], value))
  }
  return result
}

/** Also a member that is called `__proto__` is a member and nothing else. */
function setMember(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true })
}

function applied(value: unknown, operation: PatchOperation): unknown {
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
      return added(value, path, structuredClone(valueAt(value, operation.from ?? '')))
    case 'test':
      if (isSame(valueAt(value, path), operation.value)) return value
      throw new InvalidError(`The patch expects another value at ${path}.`)
  }
}

const missing = (path: string): InvalidError => new InvalidError(`The patch names ${path}, which is not there.`)

const stepsOf = (path: string): string[] =>
  path === ''
    ? []
    : path
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const step of stepsOf(path)) {
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

/** The value, with a copy of the holder of `path` in which `change` was made. */
function within(value: unknown, path: string, change: (holder: unknown[] | Members, step: string) => void): unknown {
  const steps = stepsOf(path)
  const last = steps.pop()
  if (last === undefined) throw missing(path)
  const copied = (here: unknown, at: number): unknown => {
    if (typeof here !== 'object' || here === null) throw missing(path)
    const copy: unknown[] | Members = Array.isArray(here) ? [...(here as unknown[])] : { ...here }
    const step = steps[at]
    if (step === undefined) change(copy, last)
    else if (Array.isArray(copy)) {
      const place = placeIn(copy, step, path, 0)
      copy[place] = copied(copy[place], at + 1)
    } else if (Object.hasOwn(copy, step)) setMember(copy, step, copied(copy[step], at + 1))
    else throw missing(path)
    return copy
  }
  return copied(value, 0)
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

/** One place where two values differ. `before` or `after` is missing where there is none. */
export interface JsonChange {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const JSON_CHANGES_MAX = 100

/** Where two values differ, as JSON Pointers; at most JSON_CHANGES_MAX places. */
export function jsonChanges(before: unknown, after: unknown): readonly JsonChange[] {
  const changes: JsonChange[] = []
  compare('', before, after, changes)
  return changes
}

function compare(path: string, before: unknown, after: unknown, changes: JsonChange[]): void {
  if (changes.length >= JSON_CHANGES_MAX || isSame(before, after)) return
  const isAlike = (isObject(before) && isObject(after)) || (Array.isArray(before) && Array.isArray(after))
  if (!isAlike) {
    changes.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    })
    return
  }
  const [old, young] = [before as Members, after as Members]
  for (const name of new Set([...Object.keys(old), ...Object.keys(young)])) {
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1')
    compare(`${path}/${step}`, own(old, name), own(young, name), changes)
  }
}

const own = (holder: Members, name: string): unknown => (Object.hasOwn(holder, name) ? holder[name] : undefined)

// What the actions of steps do, by hands that are lent: operations, requests and scripts belong to packages above this one. Each is
// asked for one turn: it ends, asks a person, or says when to look again.

import { InvalidError, isRepriseError, messageOf } from '@reprise/core'
import type { RunbookRun, StepEnd, StepRecord } from './run.ts'
import type { StepAction, Values } from './runbook.ts'
import { at, expectationText, filled, filledAddress, isMet } from './values.ts'

/** What a runner can do in the world. All come back soon after the signal fires. */
export interface RunbookHands {
  /** Performs an operation of the table, in the name of who started the run. */
  operation(run: RunbookRun, name: string, input: Values, signal: AbortSignal): Promise<unknown>
  /** What is wrong with the input of an operation; null if nothing. Performs nothing. */
  check(name: string, input: Values): string | null
  onlyLooks(name: string): boolean
  /** Whether an operation can be told why. */
  takesReason(name: string): boolean
  http(request: HttpStep, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }>
  /** Refuses if scripts are not allowed. */
  script(
    script: ScriptStep,
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number | null; readonly output: string }>
}

export type HttpStep = Omit<StepAction & { readonly kind: 'http' }, 'kind'> & {
  /** The same at every try of a step. */
  readonly idempotencyKey: string
}
export type ScriptStep = Omit<StepAction & { readonly kind: 'script' }, 'kind'> & {
  readonly environment: Readonly<Record<string, string>>
}

interface Turn {
  readonly run: RunbookRun
  readonly record: StepRecord
  readonly action: StepAction
  readonly hands: RunbookHands
  readonly now: number
  readonly signal: AbortSignal
}

/** How often something is looked at that is waited for. */
const LOOK_MS = 1_000
const OUTPUT_LENGTH_MAX = 8_000
const OUTPUT_SHOWN_MAX = 2_000

/** One turn of a step. Never throws: what goes wrong is how the step ended. */
export async function acted(turn: Turn): Promise<StepEnd> {
  const { run, action } = turn
  try {
    const ready = readyAction(run, action)
    return run.isDryRun ? await tried({ ...turn, action: ready }) : await done({ ...turn, action: ready })
  } catch (error) {
    return { kind: 'failed', error: messageOf(error) }
  }
}

function readyAction(run: RunbookRun, action: StepAction): StepAction {
  const [values, later] = [valuesOf(run), laterIn(run)]
  const ready = filled(action, values, later) as StepAction
  if (ready.kind !== 'http' || action.kind !== 'http') return ready
  return { ...ready, url: String(filledAddress(action.url, values, later)) }
}

/** Whether the step is left out. */
export function isLeftOut(run: RunbookRun, onlyIf: string | null): boolean {
  if (onlyIf === null) return false
  let value: unknown
  try {
    value = filled(onlyIf, valuesOf(run), laterIn(run))
  } catch {
    // What no step has given is nothing.
    return true
  }
  return value === undefined || value === null || value === '' || value === false || value === 'false'
}

/** What the places of a step can name. */
function valuesOf({ id, inputs, steps, reason, actor, fingerprint }: RunbookRun): Values {
  const outputs = Object.fromEntries(steps.map(({ name, output }) => [name, { output }]))
  return { inputs, steps: outputs, run: { id, reason, actor, fingerprint } }
}

/** Stands in a dry run for what a step would give that is not done. */
const LATER = '(known when it runs)'
const laterIn = ({ isDryRun }: RunbookRun): string | undefined => (isDryRun ? LATER : undefined)

async function done(turn: Turn): Promise<StepEnd> {
  const { action, run, hands, now, signal, record } = turn
  switch (action.kind) {
    case 'operation':
      return performedAll(turn, action.operation, withReason(run, record, { ...action, hands }))
    case 'redrive':
      return redriven(turn, action.input)
    case 'undo_redrive':
      return redriveUndone(turn)
    case 'check':
      return checked(turn, action)
    case 'ask':
      return { kind: 'ask', question: action.question }
    case 'wait': {
      const until = (record.startedAt ?? now) + action.ms
      return until <= now ? ended(null) : { kind: 'later', nextAt: until, output: null }
    }
    case 'http': {
      const { kind: _, ...request } = action
      const { status, body } = await hands.http({ ...request, idempotencyKey: `${run.id}-${record.name}` }, signal)
      if (status >= 200 && status < 300) return ended({ status, body })
      return { kind: 'failed', error: `${new URL(request.url).origin} answered ${status}: ${body.slice(0, 200)}` }
    }
    case 'script': {
      const { kind: _, ...script } = action
      const environment = { REPRISE_RUN: run.id, REPRISE_STEP: record.name }
      const { exitCode, output } = await hands.script({ ...script, environment }, signal)
      if (exitCode === 0) return ended({ output })
      return { kind: 'failed', error: `${script.file} ended with ${exitCode ?? 'a signal'}: ${output.slice(-200)}` }
    }
  }
}

/** Looks, and says what would be done. */
async function tried({ action, run, hands, signal }: Turn): Promise<StepEnd> {
  switch (action.kind) {
    case 'operation': {
      if (hands.onlyLooks(action.operation)) return ended(await seen(hands, run, action, signal))
      const wrong = hands.check(action.operation, action.input)
      if (wrong !== null) return { kind: 'failed', error: wrong }
      return ended({ would: `call ${action.operation}`, with: action.input })
    }
    case 'redrive': {
      const wrong = hands.check('createRedrive', { reason: run.reason, ...action.input })
      return wrong === null ? ended({ would: 'redrive', with: action.input }) : { kind: 'failed', error: wrong }
    }
    case 'undo_redrive':
      return ended(null)
    case 'check': {
      const value = await looked(hands, run, action, signal)
      return ended({
        value: value ?? null,
        would: `look at ${action.path}: ${expectationText(action.is)}`,
      })
    }
    case 'ask':
      return ended({ would: `ask: ${action.question}` })
    case 'wait':
      return ended({ would: `wait for ${action.ms} ms` })
    case 'http':
      return ended({ would: `${action.method} ${action.url}` })
    case 'script':
      return ended({ would: `run ${[action.file, ...action.args].join(' ')}` })
  }
}

/** Stands in the reason of what a step does: by it, it is found again. */
const markOf = ({ runbook, id }: RunbookRun, { name }: StepRecord): string =>
  `(runbook ${runbook.name}, step ${name}, run ${id})`

/** Changes carry the reason of the run, where the step says none of its own. */
function withReason(run: RunbookRun, record: StepRecord, { hands, operation, input }: Reasoned): Values {
  if (input.reason !== undefined || !hands.takesReason(operation)) return input
  return { ...input, reason: markedReason(run, record) }
}

/** A reason has 1,000 characters at the most, and the mark up to 200 of them. */
const OWN_REASON_LENGTH_MAX = 800
const markedReason = (run: RunbookRun, record: StepRecord): string =>
  `${run.reason.slice(0, OWN_REASON_LENGTH_MAX).toWellFormed()} ${markOf(run, record)}`

type Reasoned = StepAction & { readonly kind: 'operation' } & Pick<Turn, 'hands'>

const PAGES_MAX = 10_000

/** Changes of many tasks come in bounded steps: all of them. */
async function performedAll({ run, hands, signal }: Turn, name: string, input: Values): Promise<StepEnd> {
  if (hands.onlyLooks(name)) return ended(await seen(hands, run, { operation: name, input }, signal))
  let count = 0
  let cursor: unknown
  for (let page = 0; page < PAGES_MAX; page++) {
    const output = await hands.operation(run, name, cursor === undefined ? input : { ...input, cursor }, signal)
    const changed = at(output, 'changed')
    if (!Array.isArray(changed)) return ended(output)
    count += changed.length
    cursor = at(output, 'next') ?? null
    if (cursor === null) break
  }
  return ended({ changed: count })
}

interface Asked {
  readonly operation: string
  readonly input: Values
}

interface PartOfCount {
  readonly count: number
  readonly values: readonly { readonly value: string | null; readonly count: number }[]
  readonly next: string | null
}

const isCount = (output: unknown): output is PartOfCount =>
  typeof at(output, 'count') === 'number' && Array.isArray(at(output, 'values')) && at(output, 'next') !== undefined

/** Tasks of a store are counted a part at a time. A step that went by the first part would take many for few, or for none. */
async function wholeCount(
  hands: RunbookHands,
  run: RunbookRun,
  { operation, input }: Asked,
  first: PartOfCount,
  signal: AbortSignal,
): Promise<PartOfCount> {
  const values = new Map(first.values.map(({ value, count }) => [value, count]))
  let { count, next } = first
  for (let page = 1; next !== null; page++) {
    if (page >= PAGES_MAX) throw new InvalidError(`${operation} does not come to its end: ask for less.`)
    const part = await hands.operation(run, operation, { ...input, cursor: next }, signal)
    if (!isCount(part)) throw new InvalidError(`${operation} did not go on.`)
    count += part.count
    for (const one of part.values) values.set(one.value, (values.get(one.value) ?? 0) + one.count)
    next = part.next
  }
  const sorted = [...values].map(([value, each]) => ({ value, count: each })).sort((a, b) => b.count - a.count)
  return { ...first, count, values: sorted, next }
}

/** What an operation that looks gives: of a count, the whole. */
async function seen(hands: RunbookHands, run: RunbookRun, asked: Asked, signal: AbortSignal): Promise<unknown> {
  const output = await hands.operation(run, asked.operation, asked.input, signal)
  return isCount(output) ? wholeCount(hands, run, asked, output, signal) : output
}

/** What a check is about; null if there is no such thing. */
async function looked(
  hands: RunbookHands,
  run: RunbookRun,
  { operation, input, path }: StepAction & { readonly kind: 'check' },
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return at(await seen(hands, run, { operation, input }, signal), path)
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
    throw error
  }
}

async function checked(
  { run, record, hands, now, signal }: Turn,
  action: StepAction & { readonly kind: 'check' },
): Promise<StepEnd> {
  const { operation, path, is, withinMs } = action
  const value = await looked(hands, run, action, signal)
  if (isMet(is, value)) return ended({ value: value ?? null })
  const until = (record.startedAt ?? now) + withinMs
  const found =
    value === undefined || value === null ? 'nothing is there' : `it is ${JSON.stringify(value).slice(0, 200)}`
  if (now >= until) return { kind: 'failed', error: `${operation} ${path}: ${found}, ${expectationText(is)}.` }
  return { kind: 'later', nextAt: Math.min(now + LOOK_MS, until), output: { value: value ?? null } }
}

interface Redrive {
  readonly id: string
  readonly state: string
  readonly reason: string
  readonly tenants: readonly string[] | null
  readonly counts?: unknown
  readonly halt?: unknown
}

/** Its reason names the step: one that was made before a crash is found again, and no second one is made. */
async function redriven({ run, record, hands, now, signal }: Turn, input: Values): Promise<StepEnd> {
  const mark = markOf(run, record)
  const call = (name: string, values: Values): Promise<Redrive> =>
    hands.operation(run, name, values, signal) as Promise<Redrive>
  const known = at(record.output, 'id')
  const found =
    typeof known === 'string'
      ? await call('getRedrive', { id: known })
      : ((await redriveMarked(run, hands, mark, signal)) ??
        (await call('createRedrive', { ...input, reason: markedReason(run, record), start: true })))
  const { id, state } = found
  const output = { id, state, counts: found.counts ?? null }
  if (state === 'done') return ended(output)
  if (state === 'collecting') await call('collectRedrive', { id })
  if (state === 'ready') await call('startRedrive', { id, reason: mark })
  if (state === 'halted' && record.tries > 1 && at(record.output, 'state') === 'halted') {
    // The run was resumed: so is the redrive.
    await call('resumeRedrive', { id, reason: mark })
    return { kind: 'later', nextAt: now + LOOK_MS, output: { ...output, state: 'running' } }
  }
  if (state === 'halted') throw new HaltedRedrive(output)
  if (state === 'aborted' || state === 'undone') throw new InvalidError(`Redrive ${id} was ${state}.`)
  return { kind: 'later', nextAt: now + LOOK_MS, output }
}

const LIVE_REDRIVE: ReadonlySet<string> = new Set(['running', 'paused', 'halted', 'done'])

async function redriveUndone({ run, record, hands, now, signal }: Turn): Promise<StepEnd> {
  const mark = markOf(run, record)
  const call = (name: string, values: Values): Promise<Redrive> =>
    hands.operation(run, name, values, signal) as Promise<Redrive>
  const known = at(record.output, 'id')
  const found =
    typeof known === 'string' ? await call('getRedrive', { id: known }) : await redriveMarked(run, hands, mark, signal)
  if (found === null || found.state === 'undone' || found.state === 'aborted') return ended(found?.id ?? null)
  if (found.state === 'collecting' || found.state === 'ready')
    await call('abortRedrive', { id: found.id, reason: mark })
  else if (LIVE_REDRIVE.has(found.state)) await call('undoRedrive', { id: found.id, reason: mark })
  return { kind: 'later', nextAt: now + LOOK_MS, output: record.output }
}

class HaltedRedrive extends InvalidError {
  constructor({ id }: { readonly id: string }) {
    super(`Redrive ${id} has halted: 'reprise redrive show ${id}' says why. Resume the run to go on with it, or abort.`)
  }
}

async function redriveMarked(
  run: RunbookRun,
  hands: RunbookHands,
  mark: string,
  signal: AbortSignal,
): Promise<Redrive | null> {
  let cursor: string | null = null
  do {
    const place: Values = cursor === null ? {} : { cursor }
    const page = (await hands.operation(run, 'listRedrives', { limit: 100, ...place }, signal)) as {
      readonly items: readonly Redrive[]
      readonly next: string | null
    }
    // Who is limited to tenants can write the same words, and has nothing to do with a run.
    const found = page.items.find(({ reason, tenants }) => tenants === null && reason.endsWith(mark))
    if (found !== undefined) return found
    cursor = page.next
  } while (cursor !== null)
  return null
}

/** With what it gave, or how that begins. */
function ended(output: unknown): StepEnd {
  const text = JSON.stringify(output ?? null)
  return {
    kind: 'done',
    output: text.length <= OUTPUT_LENGTH_MAX ? (output ?? null) : { cut: text.slice(0, OUTPUT_SHOWN_MAX) },
  }
}

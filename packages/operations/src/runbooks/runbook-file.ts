// Runbooks as people write them: YAML, or JSON, which is YAML too. Read into the shape that runs of them are made from, with every
// mistake named by line and column. What a step mentions must be there, and an operation must be one that steps may call.

import type { Runbook, RunbookStep, StepAction } from '@reprise/orchestrator'
import { placesIn } from '@reprise/orchestrator'
import { parseYaml } from '@reprise/policies'
import * as field from '@reprise/policies/fields'
import { z } from 'zod'
import { headersWith } from '../channels/settings.ts'
import type { Operation } from '../operation.ts'

const STEPS_MAX = 50
const INPUTS_MAX = 30
const TEXT_LENGTH_MAX = 2_000
const HTTP_MS = 10_000
const SCRIPT_MS = 60_000
const TIMEOUT_MS_MAX = 600_000
const WAIT_MS_MAX = 7 * 86_400_000
const WITHIN_MS_MAX = 86_400_000

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,59}$/, 'This must be a name such as replay-after-outage: a-z, 0-9 and -.')
const Text = field.text(TEXT_LENGTH_MAX)
const Patterns = z.array(field.text(200)).max(50).default([])
const With = z.record(z.string(), z.unknown()).default({})
const timeout = (usual: number, max: number) => field.duration(0, max).default(usual)

const InputFields = z.strictObject({
  type: z.enum(['text', 'number', 'flag', 'json']).default('text'),
  about: Text.default(''),
  default: z.union([z.string().max(TEXT_LENGTH_MAX), z.number(), z.boolean()]).optional(),
  choices: z.array(Text).min(1).max(50).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})

/** A number, or the place of one. */
const Figure = z.union([z.number(), Text])

const ActionFields = {
  operation: field.text(100).optional(),
  with: With,
  redrive: z.record(z.string(), z.unknown()).optional(),
  check: z
    .strictObject({
      operation: field.text(100),
      with: With,
      path: field.text(200),
      equals: z.unknown().optional(),
      not: z.unknown().optional(),
      at_most: Figure.optional(),
      at_least: Figure.optional(),
      within: timeout(0, WITHIN_MS_MAX),
    })
    .optional(),
  ask: Text.optional(),
  wait: field.duration(0, WAIT_MS_MAX).optional(),
  http: z
    .strictObject({
      method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).default('POST'),
      url: field.text(2_000),
      headers: headersWith(Text).default({}),
      body: z.unknown().optional(),
      timeout: timeout(HTTP_MS, TIMEOUT_MS_MAX),
    })
    .optional(),
  script: z
    .strictObject({
      file: field.text(200),
      args: z.array(Text).max(20).default([]),
      timeout: timeout(SCRIPT_MS, TIMEOUT_MS_MAX),
    })
    .optional(),
} as const

const Action = z.strictObject(ActionFields)
const Step = Action.extend({
  name: Name,
  title: Text.optional(),
  if: Text.optional(),
  repeat: z.enum(['safe', 'ask']).optional(),
  undo: Action.optional(),
})

const File = z.strictObject({
  name: Name,
  title: Text,
  about: Text.default(''),
  for: z.strictObject({ codes: Patterns, reasons: Patterns, actions: Patterns }).prefault({}),
  inputs: z.record(z.string().regex(/^[a-z]\w{0,39}$/i), InputFields).default({}),
  right: z.enum(['operate', 'configure']).default('operate'),
  approval: z.boolean().default(false),
  steps: z.array(Step).min(1).max(STEPS_MAX),
})

/** A runbook as an object, for those who write it in TypeScript. */
export type RunbookDefinition = z.input<typeof File>

type Given = z.output<typeof Action>
type Operations = Readonly<Record<string, Operation>>

/** `ConfigurationError` with everything that is wrong with it. */
export function readRunbook(text: string, file: string, operations: Operations): Runbook {
  const schema = File.transform((given, context): Runbook => {
    const say = (path: readonly PropertyKey[], message: string): void =>
      context.addIssue({ code: 'custom', path: [...path], message })
    if (Object.keys(given.inputs).length > INPUTS_MAX) say(['inputs'], `There may be ${INPUTS_MAX} inputs.`)
    const known = new Set<string>()
    const steps = given.steps.map((step, at): RunbookStep => {
      const path = ['steps', at] as const
      if (known.has(step.name)) say([...path, 'name'], `Another step is called '${step.name}'.`)
      const action = actionOf(step, path, operations, say)
      const undo =
        step.undo !== undefined
          ? actionOf(step.undo, [...path, 'undo'], operations, say)
          : action.kind === 'redrive'
            ? ({ kind: 'undo_redrive' } as const)
            : null
      refuseUnknown({ action, onlyIf: step.if }, Object.keys(given.inputs), known, (message) => say(path, message))
      known.add(step.name)
      refuseUnknown(undo, Object.keys(given.inputs), known, (message) => say([...path, 'undo'], message))
      if (undo !== null && !isRepeatable(undo, operations)) {
        say([...path, 'undo'], 'An undo must be safe to repeat: after a crash it is done again.')
      }
      return {
        name: step.name,
        title: step.title ?? step.name,
        onlyIf: step.if ?? null,
        action,
        mayRepeat: step.repeat === undefined ? isRepeatable(action, operations) : step.repeat === 'safe',
        undo,
      }
    })
    const { name, title, about, inputs, right, approval } = given
    return {
      name,
      title,
      about,
      causes: given.for,
      inputs: inputs as Runbook['inputs'],
      right,
      needsApproval: approval,
      steps,
    }
  })
  return parseYaml(text, file, schema)
}

type Say = (path: readonly PropertyKey[], message: string) => void
const KINDS = ['operation', 'redrive', 'check', 'ask', 'wait', 'http', 'script'] as const
const NOTHING: StepAction = { kind: 'wait', ms: 0 }

function actionOf(given: Given, path: readonly PropertyKey[], operations: Operations, say: Say): StepAction {
  const kinds = KINDS.filter((kind) => given[kind] !== undefined)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    say(path, `A step has exactly one of ${KINDS.join(', ')}.`)
    return NOTHING
  }
  if (Object.keys(given.with).length > 0 && kind !== 'operation')
    say([...path, 'with'], "'with' belongs to 'operation'.")
  const { operation, redrive, check, ask, wait, http, script } = given
  if (operation !== undefined) {
    refuseOperation(operation, operations, (message) => say([...path, 'operation'], message))
    return { kind: 'operation', operation, input: given.with }
  }
  if (redrive !== undefined) return { kind: 'redrive', input: redrive }
  if (check !== undefined) {
    refuseOperation(check.operation, operations, (message) => say([...path, 'check', 'operation'], message))
    if (!isRead(operations[check.operation]))
      say([...path, 'check', 'operation'], 'A check only looks: name an operation that reads.')
    const wanted = (['equals', 'not', 'at_most', 'at_least'] as const).filter((how) => check[how] !== undefined)
    const [how = 'equals'] = wanted
    if (wanted.length !== 1) say([...path, 'check'], 'A check has exactly one of equals, not, at_most, at_least.')
    const { path: place, within } = check
    return {
      kind: 'check',
      operation: check.operation,
      input: check.with,
      path: place,
      is: { how, value: check[how] },
      withinMs: within,
    }
  }
  if (ask !== undefined) return { kind: 'ask', question: ask }
  if (wait !== undefined) return { kind: 'wait', ms: wait }
  if (http !== undefined) {
    const { timeout: timeoutMs, body, ...request } = http
    return { kind: 'http', ...request, body: body ?? null, timeoutMs }
  }
  return script === undefined
    ? NOTHING
    : { kind: 'script', file: script.file, args: script.args, timeoutMs: script.timeout }
}

const isRead = (entry: Operation | undefined): boolean => entry?.route.startsWith('GET ') ?? false

/** Steps act as operators: they neither configure anything nor make tokens, and start no runs. */
export function refuseOperation(name: string, operations: Operations, say: (message: string) => void): void {
  const entry = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (entry === undefined) say(`There is no operation '${name}'.`)
  else if ((entry.right !== 'read' && entry.right !== 'operate') || entry.tag === 'runbooks' || !('run' in entry)) {
    say(`A step can not call '${name}'.`)
  }
}

function isRepeatable(action: StepAction, operations: Operations): boolean {
  switch (action.kind) {
    case 'operation': {
      const entry = operations[action.operation]
      return entry !== undefined && (isRead(entry) || entry.repeatable === true)
    }
    case 'http':
      return action.method === 'GET'
    case 'script':
      return false
    case 'redrive':
    case 'undo_redrive':
    case 'check':
    case 'ask':
    case 'wait':
      return true
  }
}

function refuseUnknown(
  value: unknown,
  inputs: readonly string[],
  steps: ReadonlySet<string>,
  say: (message: string) => void,
): void {
  for (const place of placesIn(value)) {
    const [head, name = ''] = place.split('.')
    const isKnown =
      (head === 'inputs' && inputs.includes(name)) ||
      (head === 'steps' && steps.has(name)) ||
      (head === 'run' && ['id', 'reason', 'actor', 'fingerprint'].includes(name))
    if (!isKnown)
      say(
        `Nothing is known as '${place}' here: inputs, earlier steps (steps.name.output.…), or run.id, run.reason, run.actor, run.fingerprint.`,
      )
  }
}

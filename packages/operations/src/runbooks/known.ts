// Which runbooks there are: those that come with the product, and those that were published, which come before them. And which of
// them helps with a failure, with how often it did.

import {
  type By,
  type Clock,
  ConflictError,
  compileGlobs,
  type Engine,
  type Fingerprint,
  isRepriseError,
  NotFoundError,
  type Page,
  type PageRequest,
  type Stored,
  stepDocument,
} from '@reprise/core'
import {
  type Runbook,
  type RunbookRun,
  type RunbookVersion,
  runbookHeadsIn,
  runbookVersionsIn,
  runsIn,
  versionId,
} from '@reprise/orchestrator'
import { aTurn } from '../in-turns.ts'
import type { Operation } from '../operation.ts'
import { readRunbook } from './runbook-file.ts'
import { SHIPPED_RUNBOOKS } from './shipped.generated.ts'

export interface KnownRunbook {
  readonly runbook: Runbook
  /** 0 for one that comes with the product. */
  readonly version: number
  readonly text: string
  readonly by: string | null
}

type Store = Pick<Engine, 'collection' | 'journal'>
type Operations = Readonly<Record<string, Operation>>

const RUNBOOKS_MAX = 200
const RUNS_COUNTED = 1_000
const RUNS_AT_ONCE = 20
const TRIES_MAX = 20

let shipped: ReadonlyMap<string, KnownRunbook> | null = null

/** Read once: they are part of the product, and tested with it. */
function shippedOnes(operations: Operations): ReadonlyMap<string, KnownRunbook> {
  shipped ??= new Map(
    Object.entries(SHIPPED_RUNBOOKS).map(([file, text]) => {
      const runbook = readRunbook(text, file, operations)
      return [runbook.name, { runbook, version: 0, text, by: null }]
    }),
  )
  return shipped
}

export async function runbookNamed(engine: Store, operations: Operations, name: string): Promise<KnownRunbook> {
  const head = await runbookHeadsIn(engine).get(name)
  const stored = head === null ? null : await runbookVersionsIn(engine).get(versionId(name, head.document.number))
  if (stored !== null) return knownOf(stored.document)
  const one = shippedOnes(operations).get(name)
  if (one === undefined) throw new NotFoundError('runbook', name)
  return one
}

const knownOf = ({ runbook, number, text, by }: RunbookVersion): KnownRunbook => ({
  runbook,
  version: number,
  text,
  by,
})

/** All of them, by name. */
async function allRunbooks(engine: Store, operations: Operations): Promise<readonly KnownRunbook[]> {
  const { items } = await runbookHeadsIn(engine).list({ limit: RUNBOOKS_MAX })
  const found = new Map(shippedOnes(operations))
  for (const { document } of items) {
    const stored = await runbookVersionsIn(engine).get(versionId(document.id, document.number))
    if (stored !== null) found.set(document.id, knownOf(stored.document))
  }
  return [...found.values()].toSorted((one, other) => (one.runbook.name < other.runbook.name ? -1 : 1))
}

/** Makes a new version. The version is there before the head names it: a crash in between leaves a number for the next one. */
export async function publishRunbook(engine: Store, runbook: Runbook, text: string, by: By): Promise<KnownRunbook> {
  const heads = runbookHeadsIn(engine)
  const { name } = runbook
  if ((await heads.get(name)) === null && (await heads.list({ limit: RUNBOOKS_MAX })).items.length >= RUNBOOKS_MAX) {
    throw new ConflictError(`There are ${RUNBOOKS_MAX} runbooks already.`)
  }
  for (
    let number = ((await heads.get(name))?.document.number ?? 0) + 1, tries = 0;
    tries < TRIES_MAX;
    number++, tries++
  ) {
    try {
      await runbookVersionsIn(engine).insert({ id: versionId(name, number), name, number, text, runbook, by: by.actor })
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) continue
      throw error
    }
    await heads.insert({ id: name, number }).catch((error: unknown) => {
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    })
    await stepDocument(heads, name, (head) => (head.number >= number ? null : { ...head, number }))
    const data = { runbook: name, version: number }
    await engine.journal.append([
      { type: 'runbook.published', taskId: null, attempt: null, actor: by.actor, reason: by.reason, data },
    ])
    return { runbook, version: number, text, by: by.actor }
  }
  throw new ConflictError(
    `Others published ${TRIES_MAX} versions of ${name} meanwhile. Look at the newest, and try again.`,
  )
}

/** A failure, as far as a suggestion goes by it. */
interface Cause {
  readonly action: string
  readonly code: string
  readonly reason: string
}

/** Why a runbook is suggested for a failure; null if it is not. */
function suggestion({ causes }: Runbook, { action, code, reason }: Cause): string | null {
  const fits = (patterns: readonly string[], value: string): boolean =>
    patterns.length > 0 && compileGlobs(patterns)(value)
  if (causes.actions.length > 0 && !fits(causes.actions, action)) return null
  if (fits(causes.codes, code)) return `the code is ${code}`
  if (fits(causes.reasons, reason)) return `the reason is ${reason}`
  return causes.actions.length > 0 && causes.codes.length + causes.reasons.length === 0
    ? `the action is ${action}`
    : null
}

export interface RunFigures {
  readonly runs: number
  readonly succeeded: number
  readonly aborted: number
}

/** How the runs of each runbook ended: of all, or of those for one cause. Dry runs do not count. */
export async function runFigures(
  engine: Store,
  fingerprint: string | null,
  clock: Clock,
): Promise<(name: string) => RunFigures> {
  const runs = runsIn(engine)
  const counted = new Map<string, { runs: number; succeeded: number; aborted: number }>()
  let cursor: string | null = null
  // Runs are long: a few at a time, and others have their turn in between.
  for (let looked = 0; looked < RUNS_COUNTED; looked += RUNS_AT_ONCE) {
    await aTurn(clock)
    const page: PageRequest = { limit: RUNS_AT_ONCE, ...(cursor === null ? {} : { cursor }) }
    const found: Page<Stored<RunbookRun>> =
      fingerprint === null ? await runs.list(page) : await runs.find({ index: 'cause', value: fingerprint, ...page })
    for (const { document } of found.items) {
      if (document.isDryRun) continue
      const figures = counted.get(document.runbook.name) ?? { runs: 0, succeeded: 0, aborted: 0 }
      figures.runs++
      if (document.state === 'succeeded' || document.state === 'aborted') figures[document.state]++
      counted.set(document.runbook.name, figures)
    }
    cursor = found.next
    if (cursor === null) break
  }
  return (name) => counted.get(name) ?? { runs: 0, succeeded: 0, aborted: 0 }
}

interface RankedRunbook {
  readonly known: KnownRunbook
  /** Null if it is not, or if there is no cause. */
  readonly suggested: string | null
  readonly figures: RunFigures
}

/** All of them: with a cause those that are suggested for it first, of these the ones that helped most, and what needs two people last. */
export async function runbooksFor(
  engine: Pick<Engine, 'collection' | 'journal' | 'failureGroups'>,
  operations: Operations,
  clock: Clock,
  fingerprint: string | null,
): Promise<readonly RankedRunbook[]> {
  const [all, figures, cause] = await Promise.all([
    allRunbooks(engine, operations),
    runFigures(engine, fingerprint, clock),
    fingerprint === null ? null : causeOf(engine, fingerprint),
  ])
  const ranked = all.map((known) => ({
    known,
    suggested: cause === null ? null : suggestion(known.runbook, cause),
    figures: figures(known.runbook.name),
  }))
  if (cause === null) return ranked
  return ranked.toSorted(
    (one, other) =>
      Number(other.suggested !== null) - Number(one.suggested !== null) ||
      other.figures.succeeded - one.figures.succeeded ||
      Number(one.known.runbook.needsApproval) - Number(other.known.runbook.needsApproval),
  )
}

/** The newest dead letter of a group says what is wrong with it. */
async function causeOf(engine: Pick<Engine, 'failureGroups'>, fingerprint: string): Promise<Cause | null> {
  const [group] = (await engine.failureGroups({ fingerprint: fingerprint as Fingerprint, limit: 1 })).items
  return group === undefined ? null : { action: group.action, code: group.sample.code, reason: group.sample.reason }
}

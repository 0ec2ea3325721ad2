// Runs one sequence of commands on an engine and the model together, compares every answer and in the end everything
// both stores show, and checks the invariants on the engine's own state.

import {
  type AttemptLog,
  type Claimed,
  type ClaimRequest,
  failed,
  lost,
  present,
  released,
  type Settlement,
  type SettleResult,
  succeeded,
} from '@reprise/core'
import type { EngineFactory } from '../factory.ts'
import { type ClaimDraft, type Command, commandText, type SettleDraft } from './command.ts'
import { decisionFor, sweepSettlement } from './decisions.ts'
import { assign, reconcile } from './directed.ts'
import {
  actionOf,
  evidenceOf,
  failureOf,
  outageOf,
  POOLS,
  poolOf,
  quotaGuard,
  specOf,
  WORKERS,
  workerOf,
} from './draft.ts'
import { pastOf } from './draft-past.ts'
import { drain } from './drain.ts'
import { checkInspection } from './inspection.ts'
import { checkInvariants } from './invariants.ts'
import { Observer } from './observer.ts'
import { runOperatorCommand } from './operators.ts'
import { Pair, type Run, type Side } from './pair.ts'
import { readJournal, readStore } from './snapshot.ts'

/** Throws at the first difference or broken invariant. */
export async function runSequence(factory: EngineFactory, commands: readonly Command[]): Promise<void> {
  const pair = await Pair.open(factory)
  try {
    const run: Run = { pair, observer: new Observer(pair.engine.engine), startedAt: pair.now }
    // Workers are there from the start, so that short sequences get somewhere.
    for (let worker = 0; worker < WORKERS - 1; worker++) await runCommand(run, { do: 'register', worker })
    for (const command of commands) {
      await runCommand(run, command)
      if (isBatch(command)) await inspectAmidOutage(pair)
    }
    await compareStores(run, 'the whole sequence')
    await drain(pair.engine, run.observer)
    await run.observer.readOn()
    const endedAt = pair.engine.clock.now()
    checkInvariants(await readStore(pair.engine.engine, run.startedAt, endedAt), run.observer, endedAt)
    await checkInspection(pair.engine.engine, true)
  } finally {
    await pair.close()
  }
}

const isBatch = (command: Command): boolean => 'settlements' in command && command.settlements.length > 1

/** A batch may change gates more than once; what went wrong on the way is often mended by the next change of one. */
async function inspectAmidOutage({ model, engine }: Pair): Promise<void> {
  const { items } = await model.engine.breakers()
  const isAmid = items.some(({ state }) => state.status === 'half_open' || state.status === 'ramping')
  if (isAmid) await checkInspection(engine.engine, false)
}

async function compareStores({ pair, observer, startedAt }: Run, doing: string): Promise<void> {
  const stores = await pair.both(doing, ({ engine, clock }) => readStore(engine, startedAt, clock.now()))
  await pair.both(`${doing}, in the journal,`, async ({ engine }) => (await readJournal(engine, null)).entries)
  await observer.readOn()
  if (stores === null) return
  checkInvariants(stores.engine, observer, pair.now)
  await checkInspection(pair.engine.engine, false)
  for (const { id } of stores.model.tasks)
    await pair.both(`${doing}, explaining ${id},`, ({ engine }) => engine.explain(id))
}

async function runCommand(run: Run, command: Command): Promise<void> {
  const { pair, observer } = run
  const doing = commandText(command)
  switch (command.do) {
    case 'submit': {
      const { now } = pair
      const specs = command.tasks.map((draft) => {
        const spec = specOf(draft, now)
        return draft.past === undefined ? spec : { ...spec, past: pastOf(draft.past, spec.action, now) }
      })
      const answers = await pair.both(doing, ({ engine }) => engine.submit(specs))
      answers?.engine.forEach((result, index) => {
        const spec = specs[index]
        if (spec === undefined || result.outcome !== 'accepted') return
        pair.forget(spec.id)
        observer.acceptedOne(spec, Math.max(spec.dueAt ?? 0, now + spec.delayMs), now)
        if (spec.past !== undefined) observer.owe('task.imported')
      })
      return
    }
    case 'claim': {
      const { stage } = command.claim
      const answers = await pair.both(doing, (side) => side.engine.claim(claimRequest(side, command.claim)))
      if (answers !== null) await keep(run, { model: answers.model.claimed, engine: answers.engine.claimed }, stage)
      return
    }
    case 'settle':
      return settleAll(run, doing, command.settlements, null)
    case 'settleAndClaim':
      return settleAll(run, doing, command.settlements, command.claim)
    case 'renew': {
      const places = command.leases.flatMap((pick) => pair.pick(pick) ?? [])
      const progress = command.percent === null ? null : { fraction: command.percent / 100, note: 'on its way' }
      const handle = command.handle === undefined ? {} : { handle: `h${command.handle}` }
      const log = command.lines === undefined ? {} : { log: logOf(command.lines) }
      await pair.both(doing, ({ engine, leases }) =>
        engine.renew(
          places.flatMap((place) => leaseAt(leases, place)).map((lease) => ({ ...lease, progress, ...handle, ...log })),
          command.leaseMs,
        ),
      )
      return
    }
    case 'sweep':
      return sweep(run, doing, command)
    case 'assign':
      return assign(run, doing, command.assignments)
    case 'reconcile':
      return reconcile(run, doing, command.pool, command.gone ?? false)
    case 'expire':
      return expireSeenEarlier(run, doing, command.back)
    case 'advance':
      pair.advance(command.ms)
      return
    case 'look':
      return compareStores(run, doing)
    case 'together':
      await Promise.all(command.commands.map((one) => runCommand(run, one)))
      return
    default:
      return runOperatorCommand(run, command, doing)
  }
}

function claimRequest({ epochs }: Side, draft: ClaimDraft): ClaimRequest {
  const worker = workerOf(draft.worker)
  const known = epochs.get(worker) ?? []
  return {
    worker,
    epoch: known.at(draft.outdated === true && known.length > 1 ? -2 : -1) ?? 0,
    pools: draft.pool === undefined ? POOLS : [poolOf(draft.pool)],
    actions: draft.action === undefined ? null : [actionOf(draft.action)],
    limit: draft.limit,
    leaseMs: draft.leaseMs,
    ...present({ stage: draft.stage, regardless: draft.regardless }),
  }
}

const logOf = (lines: number): AttemptLog => ({
  lines: Array.from({ length: lines }, (_, at) => ({ at, level: 'info', text: `line ${at} ✓` })),
  dropped: lines,
})

const leaseAt = (leases: readonly Claimed[], place: number): Claimed[] => leases.slice(place, place + 1)

async function keep(
  { pair, observer }: Run,
  leases: { readonly model: readonly Claimed[]; readonly engine: readonly Claimed[] },
  stage: ClaimDraft['stage'],
) {
  pair.keepLeases(leases, stage)
  await observer.claimed(leases.engine, stage ?? 'run')
}

async function settleAll(
  run: Run,
  doing: string,
  drafts: readonly SettleDraft[],
  claim: ClaimDraft | null,
): Promise<void> {
  const { pair } = run
  const { now } = pair
  const picked = drafts.flatMap((draft) => {
    const place = pair.pick(draft.lease)
    return place === null ? [] : [{ draft, place }]
  })
  const settlements = ({ leases }: Side): Settlement[] =>
    picked.flatMap(({ draft, place }) => leaseAt(leases, place).map((lease) => settlementOf(draft, lease, now)))
  const done = (results: readonly SettleResult[]): void => {
    run.observer.settled(settlements(pair.engine), results, now)
    // Half of what was settled stays among the leases to pick from, for repeated and stale calls.
    results.forEach((result, index) => {
      const place = picked[index]?.place
      if (place !== undefined && (result.outcome === 'superseded' || place % 2 === 0)) pair.held.delete(place)
    })
  }
  if (claim === null) {
    const answers = await pair.both(doing, (side) => side.engine.settle(settlements(side)))
    if (answers !== null) done(answers.engine)
    return
  }
  const answers = await pair.both(doing, (side) =>
    side.engine.settleAndClaim(settlements(side), claimRequest(side, claim)),
  )
  if (answers === null) return
  done(answers.engine.settled)
  await keep(run, { model: answers.model.claimed, engine: answers.engine.claimed }, claim.stage)
}

function settlementOf(draft: SettleDraft, lease: Claimed, now: number): Settlement {
  const { taskId, attempt, token } = lease
  const ref = { taskId, attempt, token }
  // Most give no result: those of a first attempt go another way in some stores, where they stand in rows.
  if (draft.kind === 'succeeded') return succeeded(ref, draft.failure === 0 ? lease.snapshot.payload : null)
  if (draft.kind === 'released') {
    const { deferMs } = draft
    return released(ref, 'stopping', deferMs === undefined ? undefined : { delayMs: deferMs, reason: 'stale_worker' })
  }
  const failure = failureOf(draft.failure, lease.snapshot.action)
  const decision = decisionFor(draft.kind, lease, failure, now)
  const quota = quotaGuard(draft.quota)
  if (draft.kind === 'lost') return lost(ref, failure, decision, quota)
  return failed(ref, failure, decision, {
    ...quota,
    ...evidenceOf(failure, lease.snapshot, draft.outage === undefined ? undefined : outageOf(draft.outage)),
  })
}

async function sweep(run: Run, doing: string, command: Extract<Command, { readonly do: 'sweep' }>): Promise<void> {
  const { pair, observer } = run
  const { maxSettle, timeoutsAs } = command
  const quota = quotaGuard(command.quota)
  const answers = await pair.both(doing, async ({ engine }) => {
    const { overdue, now } = await engine.expired(1_000)
    // The order among equals is the engine's own.
    const ordered = overdue.toSorted((a, b) => (a.ref.taskId < b.ref.taskId ? -1 : 1))
    return { overdue: ordered, now }
  })
  if (answers === null) return
  observer.swept(answers.engine.overdue)
  for (const { kind, ref, snapshot, failures, losses } of answers.model.overdue) {
    if (kind === 'queue_ttl' || kind === 'deadline') pair.entries.push({ ...ref, snapshot, failures, losses })
  }
  const settlementsFor = (side: Side): Settlement[] =>
    (side === pair.model ? answers.model : answers.engine).overdue
      .slice(0, maxSettle)
      .map((overdue) => sweepSettlement(overdue, timeoutsAs, pair.now, quota))
  const results = await pair.both(`${doing}, settling,`, (side) => side.engine.settle(settlementsFor(side)))
  if (results !== null) observer.settled(settlementsFor(pair.engine), results.engine, pair.now)
}

async function expireSeenEarlier({ pair, observer }: Run, doing: string, back: number): Promise<void> {
  const entry = pair.entries.at(-1 - (back % Math.max(pair.entries.length, 1)))
  if (entry === undefined) return
  const { taskId, attempt } = entry
  const failure = failureOf(1, entry.snapshot.action)
  const settlement: Settlement = {
    kind: 'expired',
    ref: { taskId, attempt },
    failure,
    decision: decisionFor('expired', entry, failure, pair.now),
  }
  const answers = await pair.both(doing, ({ engine }) => engine.settle([settlement]))
  if (answers !== null) observer.settled([settlement], answers.engine, pair.now)
}

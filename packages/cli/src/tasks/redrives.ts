// What the verbs of `reprise redrive` do: plan and start a redrive, follow it, and say what it is to do.

import { isRepriseError, sleep } from '@reprise/core'
import { jsonOf, textOf } from '../command/input.ts'
import type { Invocation } from '../command/invocation.ts'
import { listed, showList } from '../command/rows.ts'
import { scopeOf } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import {
  endedOf,
  itemColumns,
  type Redrive,
  redriveColumns,
  stateText,
  tellPlan,
  tellProgress,
} from '../views/redrive.ts'
import { askedQuery } from './query.ts'

export type RedriveVerb = (invocation: Invocation, words: readonly string[]) => Promise<ExitCode | undefined>

const LOOK_MS = 500
/** Longer than an orchestrator takes to find a redrive that has been started. */
const UNMOVED_MS = 3_000
const ITEMS_MAX = 1_000
const CANARY_MAX = 1_000_000
const ENDS: ReadonlySet<Redrive['state']> = new Set(['done', 'aborted', 'undone', 'halted', 'paused', 'ready'])

export const REDRIVE_VERBS: Readonly<Record<string, RedriveVerb>> = {
  plan: async (invocation, words) => {
    const plan = await planned(invocation, words)
    invocation.output.one(plan, (people) => {
      tellPlan(plan, people)
      people.line('To start it:')
      people.line(`  reprise redrive start ${plan.id} --reason '…'`)
    })
    return EXIT.ok
  },
  start,
  list: (invocation) =>
    showList(invocation, {
      read: invocation.api.listRedrives,
      key: ({ id }) => id,
      columns: redriveColumns,
      none: 'There are no redrives.',
    }),
  show,
  watch: async (invocation, words) => watched(invocation, one(words)),
  pause: acting('pause'),
  resume: acting('resume'),
  abort: acting('abort'),
  undo: acting('undo'),
}

function one(words: readonly string[]): string {
  const [id, ...more] = words
  if (id !== undefined && more.length === 0) return id
  throw usageError('Which redrive? Name one.', "'reprise redrive list' lists them.")
}

/** Actor and reason are on record with every redrive. */
function reasonOf({ options }: Invocation): string {
  const reason = options.text('reason')
  if (reason !== undefined) return reason
  throw usageError('Why? A redrive needs a reason, for the journal.', '--reason "the fix is deployed"')
}

function acting(verb: 'pause' | 'resume' | 'abort' | 'undo'): RedriveVerb {
  return async (invocation, words) => {
    const { api, output, options } = invocation
    const id = one(words)
    const input = { id, reason: reasonOf(invocation) }
    if (options.flag('dry-run')) {
      const redrive = await api.getRedrive({ id })
      output.one(redrive, ({ line }) => line(`Would ${verb} it: ${stateText(redrive)}.`))
      return EXIT.ok
    }
    if (verb !== 'pause' && !(await invocation.confirm(`${capital(verb)} redrive ${id}?`))) return EXIT.error
    const redrive = await api[`${verb}Redrive`](input)
    if (options.flag('watch')) return watched(invocation, id)
    output.one(redrive, ({ line }) => line(stateText(redrive)))
    return EXIT.ok
  }
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

async function start(invocation: Invocation, words: readonly string[]): Promise<ExitCode> {
  const { api, output, options } = invocation
  const reason = reasonOf(invocation)
  const plan = (await existing(invocation, words)) ?? (await planned(invocation, words))
  const { id, total } = plan
  if (options.flag('dry-run')) {
    output.one(plan, (people) => tellPlan(plan, people))
    if (!words.includes(id)) await api.abortRedrive({ id, reason: 'It was a dry run.' })
    return EXIT.ok
  }
  if (total === 0) {
    output.one(plan, ({ line }) => line('There is no such dead letter: nothing is to be done.'))
    return EXIT.ok
  }
  if (output.isForPeople) output.one(plan, (people) => tellPlan(plan, people))
  if (!(await invocation.confirm(`Redrive ${total} dead letters?`))) {
    if (!words.includes(id)) await api.abortRedrive({ id, reason: 'It was not confirmed.' })
    return EXIT.error
  }
  const started = await api.startRedrive({ id, reason })
  if (options.flag('watch')) return watched(invocation, id)
  output.one(started, ({ line }) => {
    line(`Redrive ${id} is started: an orchestrator moves it. To see how far it is:`)
    line(`  reprise redrive watch ${id}`)
  })
  return EXIT.ok
}

/** The plan that is named, if one is. */
async function existing({ api }: Invocation, words: readonly string[]): Promise<Redrive | null> {
  const [id, ...more] = words
  if (id === undefined || more.length > 0) return null
  try {
    return await api.getRedrive({ id })
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
    throw error
  }
}

/** A new one, with all its dead letters written down. */
async function planned(invocation: Invocation, ids: readonly string[]): Promise<Redrive> {
  const { api, output, options } = invocation
  const given = options.text('query')
  const query = given === undefined ? {} : { q: askedQuery(invocation, [given]) }
  const all = options.flag('all') ? { all: true as const } : {}
  const selection = { ...scopeOf(options), ...options.given('fingerprint'), ...query, ...all }
  if (ids.length === 0 && Object.keys(selection).length === 0) {
    throw usageError(
      'Which dead letters? Nothing says so.',
      "Give ids, --query '…', --fingerprint, --action …, or --all.",
    )
  }
  const named = ids.length === 0 ? {} : { ids: [...new Set(ids)] }
  const input = { ...named, ...selection, ...(await planOptions(invocation)), reason: reasonOf(invocation) }
  const progress = output.progress('found')
  try {
    let redrive = await api.createRedrive(input)
    while (redrive.state === 'collecting') {
      progress.update(redrive.total, null)
      redrive = await api.collectRedrive({ id: redrive.id })
    }
    return redrive
  } finally {
    progress.end()
  }
}

async function planOptions(invocation: Invocation) {
  const { options } = invocation
  const patch = options.text('patch')
  const share = options.whole('min-success', 0, 100)
  const rate = options.whole('rate', 1, 100_000)
  const concurrency = options.whole('concurrency', 1, CANARY_MAX)
  const canary = options.text('canary')
  return {
    ...(canary === undefined ? {} : { canary: canaryOf(canary) }),
    ...(share === undefined ? {} : { minSuccess: share / 100 }),
    ...(rate === undefined ? {} : { ratePerS: rate }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(options.text('pace') === 'breaker' ? { pace: 'breaker' as const } : {}),
    ...options.given('fixed-in'),
    ...(patch === undefined ? {} : { patch: jsonOf(await textOf(invocation, patch), '--patch') as never }),
  }
}

function canaryOf(text: string): number[] {
  if (text === 'none') return []
  const sizes = text.split(',').map((size) => (/^\d{1,7}$/.test(size) ? Number(size) : Number.NaN))
  if (sizes.every((size) => size >= 1 && size <= CANARY_MAX)) return sizes
  throw usageError(`--canary takes sizes such as 1,10,100, or none; not '${text.slice(0, 40)}'.`)
}

async function show(invocation: Invocation, words: readonly string[]): Promise<ExitCode> {
  const { api, output, options } = invocation
  const id = one(words)
  const status = options.text('status') as Parameters<typeof api.listRedriveItems>[0]['status']
  if (options.flag('items') || status !== undefined) {
    const limit = options.whole('limit', 1, ITEMS_MAX) ?? 100
    const filter = status === undefined ? {} : { status }
    const { items, next } = await listed((page) => api.listRedriveItems({ id, ...filter, ...page }), { limit })
    output.list(items, itemColumns, 'There is no such item.')
    if (next !== null) output.note(`There are more; -n shows up to ${ITEMS_MAX}.`)
    return EXIT.ok
  }
  const redrive = await api.getRedrive({ id })
  output.one(redrive, (people) => {
    tellPlan(redrive, people)
    people.line()
    tellProgress(redrive, people)
  })
  return EXIT.ok
}

/** Until it has come to an end, or waits for an operator; then what came of it. 1 if it halted. */
async function watched(invocation: Invocation, id: string): Promise<ExitCode> {
  const { api, output, host } = invocation
  const progress = output.progress('redrive')
  let redrive = await api.getRedrive({ id })
  let unmovedSince: number | null = null
  let isTold = false
  try {
    while (!(ENDS.has(redrive.state) && (redrive.counts.sent === 0 || redrive.state !== 'paused'))) {
      progress.update(endedOf(redrive), redrive.total, redrive.held ?? stateText(redrive))
      const now = host.clock.monotonic()
      unmovedSince = redrive.isMoved ? null : (unmovedSince ?? now)
      if (unmovedSince !== null && now - unmovedSince >= UNMOVED_MS && !isTold) {
        isTold = true
        output.warn("No orchestrator moves this redrive. Start one: 'reprise orchestrator', or 'reprise up'.")
      }
      await sleep(host.clock, LOOK_MS, host.asked, { hold: true })
      if (host.asked.aborted) return EXIT.interrupted
      redrive = await api.getRedrive({ id })
    }
  } finally {
    progress.end()
  }
  output.one(redrive, (people) => tellProgress(redrive, people))
  return redrive.state === 'halted' ? EXIT.error : EXIT.ok
}

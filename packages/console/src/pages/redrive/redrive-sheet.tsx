// A redrive, step by step: what to change on the way, how carefully, and why; then what is expected, before anything runs; then
// its progress. A plan is a document on the server: what is started is what was looked at.

import { checkedPatch } from '@reprise/core'
import { useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { useSeesAll } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { Choice } from '../../parts/choice.tsx'
import { Differences } from '../../parts/differences.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { messageOf } from '../../parts/states.tsx'
import { CommandLine, shellWord } from '../../parts/texts.tsx'
import { usePatched } from './patched.ts'
import { PlanView } from './plan-view.tsx'
import { Progress, RedriveActs } from './progress.tsx'

type Redrive = OperationOutput<'getRedrive'>

interface RedriveSheetProps {
  /** Which dead letters. */
  readonly what: { readonly fingerprint: string } | { readonly q: string } | { readonly ids: string[] }
  /** The same for the command line. */
  readonly command: string
  readonly count: number | null
  /** A task to show the patch on. */
  readonly sample: string | null
  readonly onClose: () => void
}

const CANARIES = [
  ['1,10,100', '1, 10, 100, then all'],
  ['10,100', '10, 100, then all'],
  ['none', 'All at once'],
] as const

interface Draft {
  readonly patch: string
  readonly canary: string
  readonly rate: string
  readonly version: string
  readonly pace: 'free' | 'breaker'
  readonly reason: string
}

const EMPTY: Draft = { patch: '', canary: '1,10,100', rate: '', version: '', pace: 'free', reason: '' }

export function RedriveSheet({ what, command, count, sample, onClose }: RedriveSheetProps) {
  const [draft, setDraft] = useState(EMPTY)
  const [id, setId] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const redrive = useOperation('getRedrive', { id: id ?? '' }, { enabled: id !== null, everyMs: 1_000 })
  const planned = redrive.data
  const line = `npx reprise redrive start ${command}${optionsOf(draft)}`
  const guarded = async (act: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await act()
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  const check = () =>
    guarded(async () => {
      let made: Redrive = await call('createRedrive', { ...what, ...inputOf(draft) })
      while (made.state === 'collecting') made = await call('collectRedrive', { id: made.id })
      setId(made.id)
    })
  const start = () =>
    guarded(async () => {
      await call('startRedrive', { id: id ?? '', reason: draft.reason.trim() })
      await refresh()
    })
  const back = () =>
    guarded(async () => {
      await call('abortRedrive', { id: id ?? '', reason: 'changed before it started' })
      setId(null)
    })
  const step = planned === undefined || id === null ? 'draft' : planned.state === 'ready' ? 'plan' : 'run'
  const problem = patchProblem(draft.patch)
  return (
    <Sheet
      title={count === null ? 'Redrive' : `Redrive ${many(count, 'dead letter')}`}
      onClose={onClose}
      actions={
        step === 'draft' ? (
          <>
            <button
              type="submit"
              form="redrive-draft"
              className="button button-main"
              disabled={isBusy || draft.reason.trim() === '' || problem !== null}
            >
              {isBusy ? 'Looking …' : 'Check what would happen'}
            </button>
            <span className="text-sm text-dim">Nothing runs yet.</span>
          </>
        ) : step === 'plan' ? (
          <>
            <button
              type="button"
              className="button button-main"
              disabled={isBusy || planned?.total === 0}
              onClick={() => void start()}
            >
              Start: {many(planned?.total ?? 0, 'task')}
            </button>
            <button type="button" className="button" disabled={isBusy} onClick={() => void back()}>
              Change it
            </button>
          </>
        ) : planned === undefined ? undefined : (
          <RedriveActs redrive={planned} />
        )
      }
    >
      <Steps at={step} />
      {step === 'draft' && (
        <DraftForm draft={draft} onChange={setDraft} sample={sample} problem={problem} onSubmit={() => void check()} />
      )}
      {step === 'plan' && planned !== undefined && <PlanView redrive={planned} />}
      {step === 'run' && planned !== undefined && <Progress redrive={planned} />}
      {error !== null && (
        <p role="alert" className="mt-3 rounded-sm bg-dead-soft px-2 py-1.5">
          <span className="text-dead">✕ Refused.</span> <bdi>{messageOf(error)}</bdi>
        </p>
      )}
      {step !== 'run' && (
        <div className="mt-4 flex flex-col gap-1">
          <span className="label">The same as a command</span>
          <CommandLine command={line} />
        </div>
      )}
    </Sheet>
  )
}

const STEPS = [
  ['draft', '1 How'],
  ['plan', '2 Check'],
  ['run', '3 Run'],
] as const

const Steps = ({ at }: { readonly at: string }) => (
  <ol className="mb-3 flex gap-4 text-sm" aria-label="Steps">
    {STEPS.map(([step, name]) => (
      <li
        key={step}
        aria-current={step === at ? 'step' : undefined}
        className={step === at ? 'font-semibold text-accent' : 'text-dim'}
      >
        {name}
      </li>
    ))}
  </ol>
)

interface DraftFormProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly sample: string | null
  readonly problem: string | null
  readonly onSubmit: () => void
}

function DraftForm({ draft, onChange, sample, problem, onSubmit }: DraftFormProps) {
  // Versions of workers are not told to who is limited to tenants.
  const seesAll = useSeesAll()
  const set = (change: Partial<Draft>): void => onChange({ ...draft, ...change })
  return (
    <form
      id="redrive-draft"
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <label className="flex flex-col gap-1">
        <span className="label">Reason, for the journal</span>
        <input
          className="field"
          value={draft.reason}
          maxLength={500}
          autoFocus={true}
          placeholder="fixed in 2.4"
          onChange={(event) => set({ reason: event.target.value })}
        />
      </label>
      <div className="flex flex-col gap-1">
        <span className="label">In stages. It halts by itself if the cause is still there.</span>
        <Choice label="Stages" value={draft.canary} options={CANARIES} onChange={(canary) => set({ canary })} />
        {draft.canary === 'none' && <p className="text-sm text-waiting">◔ Without stages it never halts by itself.</p>}
      </div>
      <div className="grid grid-cols-2 gap-3">
        {seesAll && (
          <label className="flex flex-col gap-1">
            <span className="label">Only on workers of version, or newer</span>
            <input
              className="field"
              value={draft.version}
              maxLength={200}
              placeholder="any"
              onChange={(event) => set({ version: event.target.value })}
            />
          </label>
        )}
        <label className="flex flex-col gap-1">
          <span className="label">At most this many per second</span>
          <input
            className="field"
            inputMode="numeric"
            value={draft.rate}
            placeholder="as they come"
            onChange={(event) => set({ rate: event.target.value.replaceAll(/\D/g, '') })}
          />
        </label>
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft.pace === 'breaker'}
          onChange={(event) => set({ pace: event.target.checked ? 'breaker' : 'free' })}
        />
        Not faster than the breakers let through
      </label>
      <label className="flex flex-col gap-1">
        <span className="label">
          Patch of each payload: an object to merge, or a list of operations (RFC 6902). Empty for none.
        </span>
        <textarea
          className="field h-24 py-1 font-mono"
          spellCheck={false}
          value={draft.patch}
          placeholder='{ "region": "us" }'
          onChange={(event) => set({ patch: event.target.value })}
        />
      </label>
      {problem !== null && (
        <p role="alert" className="text-dead">
          ✕ {problem}
        </p>
      )}
      {problem === null && draft.patch.trim() !== '' && sample !== null && (
        <PatchPreview patch={draft.patch} sample={sample} />
      )}
    </form>
  )
}

function PatchPreview({ patch, sample }: { readonly patch: string; readonly sample: string }) {
  const task = useOperation('getTask', { id: sample }, { everyMs: false, live: false })
  return task.data === undefined ? null : <PatchOn payload={task.data.payload} patch={patch} />
}

function PatchOn({ payload, patch }: { readonly payload: unknown; readonly patch: string }) {
  const tried = usePatched(payload, patch)
  if (tried === null) return null
  if ('problem' in tried) {
    return (
      <p role="alert" className="text-dead">
        ✕ It does not fit the newest one: {tried.problem}
      </p>
    )
  }
  if (tried.changes.length === 0) return <p className="text-dim">It changes nothing in the newest one.</p>
  const rows = tried.changes.map(({ path, before, after }) => ({
    feature: path === '' ? 'all of it' : path,
    before,
    after,
  }))
  return <Differences before="payload of the newest" after="patched" rows={rows} />
}

function patchProblem(text: string): string | null {
  if (text.trim() === '') return null
  try {
    checkedPatch(JSON.parse(text))
    return null
  } catch (error) {
    return error instanceof SyntaxError ? `This is no JSON: ${error.message}` : messageOf(error)
  }
}

const canaryOf = (canary: string): number[] => (canary === 'none' ? [] : canary.split(',').map(Number))

function inputOf({ patch, canary, rate, version, pace, reason }: Draft) {
  return {
    reason: reason.trim(),
    canary: canaryOf(canary),
    ...(rate === '' ? {} : { ratePerS: Number(rate) }),
    ...(version.trim() === '' ? {} : { fixedIn: version.trim() }),
    ...(pace === 'free' ? {} : { pace }),
    // Checked before it can be sent.
    ...(patch.trim() === '' ? {} : { patch: JSON.parse(patch) as Record<string, unknown> }),
  }
}

function optionsOf({ patch, canary, rate, version, pace, reason }: Draft): string {
  return [
    canary === '1,10,100' ? '' : ` --canary ${canary}`,
    rate === '' ? '' : ` --rate ${rate}`,
    version.trim() === '' ? '' : ` --fixed-in ${shellWord(version.trim())}`,
    pace === 'free' ? '' : ` --pace ${pace}`,
    patch.trim() === '' ? '' : ` --patch ${shellWord(patch.trim())}`,
    ` --reason ${shellWord(reason.trim() === '' ? '…' : reason.trim())}`,
  ].join('')
}

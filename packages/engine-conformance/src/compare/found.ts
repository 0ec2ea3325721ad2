// Sequences in which an engine once did not agree with the model, cut down by hand. Every engine runs them each time.

import type { ClaimDraft, Command, SettleDraft } from './command.ts'
import { claim, failedTwice, submit } from './scenes.ts'

const settlement = (back: number, kind: SettleDraft['kind'], outage?: number): SettleDraft => ({
  lease: { back, held: true },
  kind,
  failure: 0,
  outage,
})

/** One action's breaker is half open. Another runs beside it: an attempt from before (back 3) and one from since (back 0). */
const halfOpenBeside = (stage: ClaimDraft['stage']): readonly Command[] => [
  submit(1, 1, 0, 0),
  claim(1, { action: 1 }),
  claim(2, { action: 0 }),
  failedTwice({ outage: 0 }),
  { do: 'advance', ms: 1_000 },
  claim(1, { worker: 1, action: 0 }),
  claim(1, { worker: 1, action: 1, stage }),
]

export const FOUND: Readonly<Record<string, readonly Command[]>> = {
  // Seed 1794820726086, sequence 2795, on Redis.
  'a leaked slot of an action that joins a half open breaker': [
    ...halfOpenBeside('run'),
    { do: 'settle', settlements: [settlement(3, 'failed', 0), settlement(0, 'succeeded')] },
  ],
  // Seed 1794818730862, sequence 7980, on Redis.
  'a leaked slot beside a superseded settlement and a dispatch': [
    ...halfOpenBeside('dispatch'),
    { do: 'settle', settlements: [settlement(2, 'failed', 0), settlement(3, 'failed', 0), settlement(0, 'released')] },
  ],
  // Seed 1203608735, sequence 309, on SQLite: the comparison was wrong, not the engine.
  'a claim that is told before the submission of its task': [
    { do: 'submit', tasks: [{ id: 4 }, { id: 0 }, { id: 0 }] },
    {
      do: 'together',
      commands: [
        { do: 'submit', tasks: [{ id: 5 }] },
        { do: 'settle', settlements: [settlement(0, 'succeeded')] },
        { do: 'claim', claim: { worker: 0, limit: 3, leaseMs: 1_000, stage: 'dispatch' } },
      ],
    },
    { do: 'limit', scope: {}, concurrency: 1 },
    {
      do: 'together',
      commands: [
        { do: 'claim', claim: { worker: 0, limit: 1, leaseMs: 1_000 } },
        { do: 'assign', assignments: [{ lease: { back: 0, held: true }, worker: 0, ttlMs: 1_000 }] },
      ],
    },
    {
      do: 'together',
      commands: [
        { do: 'settle', settlements: [settlement(0, 'succeeded')] },
        { do: 'claim', claim: { worker: 0, limit: 1, leaseMs: 1_000 } },
      ],
    },
  ],
}

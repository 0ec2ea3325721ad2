// What holds a lane, as a line, and what lifts it.

import { address, Link } from '../../address.tsx'
import { useSeesAll } from '../../api/me.ts'
import { type Gate, gateSentence, type Scope, scopeWords } from '../../gate-words.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { At } from '../../parts/texts.tsx'
import { useNow } from '../../time.ts'
import type { LaneVerb } from './lane-changes.tsx'

/** Opens the question before a change; null for who may not. */
export type Begin = ((verb: LaneVerb, scope: Scope) => void) | null

export function GateLine({ gate }: { readonly gate: Gate }) {
  const now = useNow()
  return (
    <span className="flex min-w-0 flex-1 basis-72 items-baseline gap-x-2">
      <StateMark state="held" word={gate.kind === 'concurrency' ? 'limited' : 'held'} isShort={true} />
      <span className="min-w-0 break-words">
        <bdi>{gateSentence(gate, now)}</bdi>{' '}
        <span className="text-sm text-dim">
          {'scope' in gate && gate.scope !== undefined && <bdi>on {scopeWords(gate.scope)} </bdi>}
          {'since' in gate && typeof gate.since === 'number' && (
            <>
              since <At at={gate.since} />
            </>
          )}
        </span>
      </span>
    </span>
  )
}

/** What lifts it. */
export function GateActions({ gate, begin }: { readonly gate: Gate; readonly begin: Begin }) {
  const seesAll = useSeesAll()
  if (gate.kind === 'breaker') {
    return (
      <Link className="link text-sm" to={address('/breakers', { name: gate.name })}>
        the breaker →
      </Link>
    )
  }
  if (begin === null || (gate.kind !== 'paused' && gate.kind !== 'concurrency')) return null
  // What the platform set is not lifted by who is limited to tenants.
  if (gate.rank === 'platform' && !seesAll) return null
  const verb = gate.kind === 'paused' ? 'resume' : 'limit'
  return (
    <button type="button" className="button h-6 text-sm" onClick={() => begin(verb, gate.scope)}>
      {verb === 'resume' ? 'Resume …' : 'Change …'}
    </button>
  )
}

// A state as shape, word and colour, in this order: a reader who sees no colour reads the same.

import { useId } from 'react'

export type StateName =
  | 'queued'
  | 'waiting'
  | 'running'
  | 'succeeded'
  | 'dead'
  | 'discarded'
  | 'cancelled'
  | 'held'
  | 'failed'
  | 'lost'

interface Look {
  readonly shape: string
  readonly colour: string
}

const LOOKS: Readonly<Record<StateName, Look>> = {
  running: { shape: '●', colour: 'text-running' },
  waiting: { shape: '◔', colour: 'text-waiting' },
  queued: { shape: '○', colour: 'text-queued' },
  succeeded: { shape: '✓', colour: 'text-succeeded' },
  dead: { shape: '✕', colour: 'text-dead' },
  failed: { shape: '✕', colour: 'text-dead' },
  lost: { shape: '?', colour: 'text-dead' },
  discarded: { shape: '⊘', colour: 'text-cancelled' },
  cancelled: { shape: '⊘', colour: 'text-cancelled' },
  held: { shape: '‖', colour: 'text-held' },
}

const UNKNOWN: Look = { shape: '·', colour: 'text-dim' }

export const lookOf = (state: string): Look => LOOKS[state as StateName] ?? UNKNOWN

/** The word may be another one than the state's name: 'open' looks like held. */
export function StateMark({
  state,
  word = state,
  isShort = false,
}: {
  readonly state: string
  readonly word?: string
  readonly isShort?: boolean
}) {
  const id = useId()
  const { shape, colour } = lookOf(state)
  return (
    <span
      className={`inline-flex items-baseline gap-1.5 whitespace-nowrap ${colour}`}
      title={isShort ? word : undefined}
    >
      <span aria-hidden="true" className="inline-block w-3 text-center font-mono">
        {shape}
      </span>
      <span id={id} className={isShort ? 'sr-only' : ''}>
        {word}
      </span>
    </span>
  )
}

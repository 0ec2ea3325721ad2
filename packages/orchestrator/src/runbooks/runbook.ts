// A runbook: a named recovery procedure of guarded steps. Here is its shape once it was read and checked; how it is written is
// docs/runbooks.md, who reads it is packages/operations. A run of one is run.ts.

import type { Collection, Document, Engine } from '@reprise/core'

export interface Runbook {
  readonly name: string
  readonly title: string
  readonly about: string
  /** The failures that it is suggested for; patterns with `*`. Empty for none in particular. */
  readonly causes: {
    readonly codes: readonly string[]
    readonly reasons: readonly string[]
    readonly actions: readonly string[]
  }
  readonly inputs: Readonly<Record<string, RunbookInput>>
  /** What who starts it must be allowed to do. */
  readonly right: 'operate' | 'configure'
  /** Whether another person has to agree before the first step. */
  readonly needsApproval: boolean
  readonly steps: readonly RunbookStep[]
}

export interface RunbookInput {
  readonly type: 'text' | 'number' | 'flag' | 'json'
  readonly about: string
  /** Needed if there is none. */
  readonly default?: string | number | boolean
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
}

export interface RunbookStep {
  readonly name: string
  readonly title: string
  /** Left out if this comes to nothing, false or an empty text. */
  readonly onlyIf: string | null
  readonly action: StepAction
  /** Whether it may be done again when nobody knows if it was done. Otherwise a person is asked. */
  readonly mayRepeat: boolean
  /** What takes it back when the run is aborted. It may always be repeated. */
  readonly undo: StepAction | null
}

/** Texts in these may hold `{{ inputs.x }}`, `{{ steps.name.output.y }}` and `{{ run.id }}`. */
export type StepAction =
  | { readonly kind: 'operation'; readonly operation: string; readonly input: Values }
  /** Plans a redrive, starts it, and waits for its end. */
  | { readonly kind: 'redrive'; readonly input: Values }
  /** Takes back what the redrive of this step has sent and nobody has started. */
  | { readonly kind: 'undo_redrive' }
  /** Asks until what is at `path` of the answer is as it should be, for so long. */
  | {
      readonly kind: 'check'
      readonly operation: string
      readonly input: Values
      readonly path: string
      readonly is: Expectation
      readonly withinMs: number
    }
  | { readonly kind: 'ask'; readonly question: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'http'
      readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: unknown
      readonly timeoutMs: number
    }
  | { readonly kind: 'script'; readonly file: string; readonly args: readonly string[]; readonly timeoutMs: number }

export type Values = Readonly<Record<string, unknown>>

export interface Expectation {
  readonly how: 'equals' | 'at_most' | 'at_least' | 'not'
  readonly value: unknown
}

/** A version as it was published. Numbered from 1 without gaps, never changed. */
export interface RunbookVersion extends Document {
  readonly name: string
  readonly number: number
  readonly text: string
  readonly runbook: Runbook
  readonly by: string
}

/** The newest version of each. */
export interface RunbookHead extends Document {
  readonly number: number
}

export const runbookVersionsIn = (engine: Pick<Engine, 'collection'>): Collection<RunbookVersion> =>
  engine.collection<RunbookVersion>({ name: 'runbook-versions', indexes: { name: ({ name }) => name } })
export const runbookHeadsIn = (engine: Pick<Engine, 'collection'>): Collection<RunbookHead> =>
  engine.collection<RunbookHead>({ name: 'runbooks', indexes: {} })

export const versionId = (name: string, number: number): string => `${name}@${number}`

// How runbooks, their runs and their steps are, in shape, word and sentence.

import type { OperationOutput } from '../../api/client.ts'
import { many, share } from '../../format.ts'

export type Runbook = OperationOutput<'listRunbooks'>['items'][number]
export type RunbookDetail = OperationOutput<'getRunbook'>
export type Run = OperationOutput<'getRunbookRun'>
export type Step = Run['steps'][number]

type Look = readonly [look: string, word: string]

export const RUN_LOOKS: Readonly<Record<Run['state'], Look>> = {
  running: ['running', 'running'],
  waiting: ['held', 'asks'],
  halted: ['dead', 'halted'],
  aborting: ['waiting', 'taking back'],
  succeeded: ['succeeded', 'succeeded'],
  aborted: ['cancelled', 'aborted'],
}

export const STEP_LOOKS: Readonly<Record<Step['state'], Look>> = {
  pending: ['queued', 'to do'],
  running: ['running', 'under way'],
  polling: ['waiting', 'waits'],
  done: ['succeeded', 'done'],
  skipped: ['cancelled', 'left out'],
  failed: ['dead', 'failed'],
  undoing: ['running', 'is taken back'],
  undone: ['cancelled', 'taken back'],
  undo_failed: ['dead', 'not taken back'],
}

/** What a step does, by its kind. */
export const KIND_WORDS: Readonly<Record<string, string>> = {
  operation: 'changes or reads',
  redrive: 'redrives',
  check: 'checks',
  ask: 'asks a person',
  wait: 'waits',
  http: 'calls an address',
  script: 'runs a script',
}

export const isOver = ({ state }: Run): boolean => state === 'succeeded' || state === 'aborted'

/** How often it helped: of the latest runs, without dry ones. */
export const helpedWords = ({ runs, succeeded }: Runbook['figures']): string =>
  runs === 0 ? 'never run' : `${succeeded} of ${many(runs, 'run')} succeeded (${share(succeeded, runs)})`

export const runAddress = (id: string): string => `/runbooks/runs/${encodeURIComponent(id)}`
export const runbookAddress = (name: string): string => `/runbooks/${encodeURIComponent(name)}`

export function runSentence(run: Run): string {
  const done = run.steps.filter(({ state }) => state === 'done' || state === 'skipped').length
  const far = `${done} of ${many(run.steps.length, 'step')} done`
  const step = run.steps.find(({ state }) => state !== 'done' && state !== 'skipped')
  const dry = run.isDryRun ? ' Dry run: nothing is changed.' : ''
  switch (run.state) {
    case 'running':
      return `${far}; now: ${step?.title ?? 'the end'}.${dry}`
    case 'waiting':
      return `${far}. It waits for an answer.${dry}`
    case 'halted':
      return `It halted at “${step?.title ?? ''}”, ${far}. Mend it and resume, or abort.${dry}`
    case 'aborting':
      return 'It was aborted. What was done is taken back, the last step first.'
    case 'aborted':
      return run.steps.some(({ state }) => state === 'undo_failed')
        ? 'It was aborted. Not everything could be taken back.'
        : 'It was aborted, and what could be taken back was.'
    case 'succeeded':
      return run.isDryRun ? 'It only looked: this is what it would do.' : 'All steps are done.'
  }
}

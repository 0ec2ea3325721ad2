// The kinds of lines of an incident, in shape and word, where each leads to, and the whole in one sentence.

import { incidentFigures } from '@reprise/core'
import { address } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { count, many, when } from '../../format.ts'

export type Line = OperationOutput<'getIncident'>['items'][number]
type Kind = Line['kind']

interface Look {
  readonly shape: string
  readonly word: string
  readonly colour?: string
  /** Where its subject is shown. */
  readonly to?: (subject: string) => string
}

const under = (path: string) => (subject: string) => `${path}/${encodeURIComponent(subject)}`

export const KIND_LOOKS: Readonly<Record<Kind, Look>> = {
  failures: { shape: '✕', word: 'failures', colour: 'text-dead', to: under('/failures') },
  recoveries: { shape: '✓', word: 'recoveries', colour: 'text-succeeded' },
  deploy: { shape: '▲', word: 'deploys', to: () => '/workers' },
  worker: { shape: '△', word: 'workers', to: () => '/workers' },
  breaker: { shape: '‖', word: 'breakers', colour: 'text-held', to: () => '/breakers' },
  alert: { shape: '!', word: 'alerts', colour: 'text-waiting' },
  operator: { shape: '■', word: 'operators' },
  redrive: { shape: '↻', word: 'redrives', to: under('/redrives') },
  runbook: { shape: '≡', word: 'runbooks', to: under('/runbooks/runs') },
  work_order: { shape: '□', word: 'work orders', to: under('/work-orders') },
  case: { shape: '◇', word: 'causes', to: under('/failures') },
  store: { shape: '○', word: 'store' },
}

export const KINDS = Object.keys(KIND_LOOKS) as readonly Kind[]

export function placeOf({ kind, subject, actor }: Line): string | null {
  if (kind === 'operator') return address('/audit', { actor })
  return subject === null ? null : (KIND_LOOKS[kind].to?.(subject) ?? null)
}

export function sentenceOf(lines: readonly Line[], hasMore: boolean, now: number): string {
  const { firstFailureAt, lastFailureAt, failed, died, recovered, causes } = incidentFigures(lines)
  const least = hasMore ? '≥ ' : ''
  if (firstFailureAt === null || lastFailureAt === null)
    return lines.length === 0
      ? 'Nothing unusual happened.'
      : `Nothing failed; ${least}${many(lines.length, 'thing')} happened.`
  const between = `from ${when(firstFailureAt, now)} to ${when(lastFailureAt, now)}`
  const ends = `${count(died)} died${recovered === 0 ? '' : `, ${count(recovered)} recovered`}`
  return `${least}${many(failed, 'attempt')} failed of ${many(causes, 'cause')}, ${between}; ${ends}.`
}

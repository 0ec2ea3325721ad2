// Inspection of one partition: stage after stage, one script call each time, which looks at a bounded piece and sets right
// what it was asked to. What the stages look at, and how they repair, stands in lua/inspect-*.lua. With several partitions
// dedupe keys are held elsewhere than their tasks, under tickets, and the next user finds out: they are not looked at.

import {
  type ActionName,
  BATCH_MAX,
  type Finding,
  type FindingSubject,
  type Fingerprint,
  type InspectRequest,
  type InspectResult,
  StoreFailedError,
  type TaskId,
  type TenantId,
  type WorkerId,
} from '@reprise/core'
import {
  checkInspector,
  checkLimit,
  findingOf,
  foreignCursor,
  type InspectPlace,
  inspectCursor,
  inspectPlace,
  isFindingKind,
  nextInspectPlace,
} from '@reprise/core/engine'
import { FINDING_ROW, records } from './layout.ts'
import type { Script } from './link/link.ts'
import { asTexts, type Partition } from './partition.ts'
import { scopeNamed } from './reserve.ts'
import {
  inspectCountsScript,
  inspectDelaysScript,
  inspectExpiriesScript,
  inspectGroupsScript,
  inspectKeysScript,
  inspectLeasesScript,
  inspectQueuesScript,
  inspectTasksScript,
} from './scripts.generated.ts'

const STAGES = ['tasks', 'queue', 'expiries', 'delayed', 'leases', 'groups', 'keys', 'counts'] as const
type Stage = (typeof STAGES)[number]

interface StageOf {
  readonly script: Script
  readonly start: string
  /** Its groups are what the script takes. */
  readonly position: RegExp
}

const STAGE_OF: Readonly<Record<Stage, StageOf>> = {
  tasks: { script: inspectTasksScript, start: '0 0', position: /^(\d{1,15}) (\d{1,15})$/ },
  queue: { script: inspectQueuesScript, start: '1 0 0', position: /^(\d{1,15}) (\d{1,2}) (\d{1,15})$/ },
  expiries: { script: inspectExpiriesScript, start: '0 0', position: /^(\d{1,15}) (\d{1,15})$/ },
  delayed: { script: inspectDelaysScript, start: '0 ', position: /^(\d{1,15}) (.*)$/ },
  leases: { script: inspectLeasesScript, start: '', position: /^(.*)$/ },
  groups: { script: inspectGroupsScript, start: '0 0', position: /^(\d{1,15}) (\d{1,15})$/ },
  keys: { script: inspectKeysScript, start: '0', position: /^(\d{1,20})$/ },
  counts: { script: inspectCountsScript, start: '', position: /^()$/ },
}

export async function inspect(partition: Partition, request: InspectRequest): Promise<InspectResult> {
  const limit = request.limit ?? BATCH_MAX
  checkLimit(limit)
  checkInspector(request)
  const place = inspectPlace(STAGES, request.cursor)
  const isAlone = partition.position.places === 1
  const { repair, by } = request
  const who = repair ? [by.actor, by.reason] : ['', '']
  const args = [repair ? '1' : '', ...who, String(limit), ...positionOf(place), isAlone ? '1' : '']
  const [next = '', checked, unchecked = '', ...texts] = asTexts(
    await partition.once(STAGE_OF[place.stage].script, args),
  )
  const goOnAt = next === '' ? placeAfter(place.stage, isAlone) : { stage: place.stage, position: next }
  return {
    checked: Number(checked),
    findings: findingsOf(texts),
    unchecked: unchecked === '' ? [] : [unchecked],
    next: goOnAt === null ? null : inspectCursor(goOnAt),
  }
}

function placeAfter(stage: Stage, isAlone: boolean): InspectPlace<Stage> | null {
  const next = nextInspectPlace(STAGES, stage)
  return next?.stage === 'keys' && !isAlone ? placeAfter('keys', isAlone) : next
}

function positionOf({ stage, position }: InspectPlace<Stage>): readonly string[] {
  const { start, position: pattern } = STAGE_OF[stage]
  const parts = pattern.exec(position === '' ? start : position)
  if (parts === null) throw foreignCursor()
  const [, ...values] = parts
  // What may contain anything stands last in a cursor, and first where a script looks for it.
  return stage === 'delayed' ? values.toReversed() : values
}

function findingsOf(texts: readonly string[]): Finding[] {
  return records(FINDING_ROW, texts).map(({ kind, subject, name, found, expected, repaired }) => {
    if (!isFindingKind(kind)) throw new StoreFailedError(`An inspection found something unknown: '${kind}'.`)
    return findingOf({ kind, subject: subjectOf(subject, name), found, expected, repaired: repaired === '1' })
  })
}

function subjectOf(kind: string, name: string): FindingSubject {
  switch (kind) {
    case 'task':
      return { kind, id: name as TaskId }
    case 'worker':
      return { kind, id: name as WorkerId }
    case 'lane':
    case 'limit':
      // That of breakers is on an action alone.
      return { kind, scope: scopeNamed(name.replace('\r\n', '\n')) }
    case 'group':
      return { kind, fingerprint: name as Fingerprint }
    case 'key': {
      const [tenant = '', action = '', ...key] = name.split('\n')
      return { kind, tenant: tenant as TenantId, action: action as ActionName, key: key.join('\n') }
    }
    case 'store':
      return { kind }
    default:
      throw new StoreFailedError(`An inspection found something about '${kind}', which is unknown.`)
  }
}

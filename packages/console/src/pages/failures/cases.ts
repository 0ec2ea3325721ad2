// What a cause can be to people, as shape and word; and the types that its pages share.

import type { OperationOutput } from '../../api/client.ts'

export type Group = OperationOutput<'listFailureGroups'>['items'][number]
export type GroupFigures = OperationOutput<'getFailureGroup'>
export type CaseStatus = NonNullable<Group['case']>['state']['status']

export const CASE_LOOKS: Readonly<Record<CaseStatus, { readonly look: string; readonly word: string }>> = {
  open: { look: 'dead', word: 'open' },
  acknowledged: { look: 'waiting', word: 'taken on' },
  resolved: { look: 'succeeded', word: 'resolved' },
  ignored: { look: 'cancelled', word: 'ignored' },
}

// reprise tenants: what each tenant has in the store, beside how much of it is allowed.

import type { TenantFigures, TenantLimits } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, WATCH } from '../command/shared-options.ts'
import type { Column } from '../output/table.ts'
import { sizeText } from '../output/times.ts'

type Tenant = TenantFigures & { readonly limits: TenantLimits }

export const tenants: CommandDefinition = {
  path: ['tenants'],
  group: 'Operate',
  summary: 'List tenants with their figures and limits',
  details:
    'For each tenant: tasks that have not ended, tasks that run, and the bytes of all payloads that are stored, each beside its limit; and how many tasks per second may be submitted. Limits come from the section tenants of the policies, then from the configuration of the server. For callers who may see all tenants.',
  options: [LIMIT, WATCH],
  examples: [['reprise tenants', 'Who has how much?']],
  run: (invocation) =>
    showList(invocation, {
      read: invocation.api.listTenants,
      key: ({ tenant }) => tenant,
      columns,
      none: 'There is no tenant yet: nothing was submitted.',
    }),
}

const columns = (): readonly Column<Tenant>[] => [
  { title: 'TENANT', value: ({ tenant }) => tenant, flexible: true },
  { title: 'BACKLOG', value: ({ backlog, limits }) => beside(backlog, limits.backlog), right: true },
  { title: 'RUNNING', value: ({ running, limits }) => beside(running, limits.running), right: true },
  {
    title: 'BYTES',
    value: ({ bytes, limits }) => beside(sizeText(bytes), limits.bytes === null ? null : sizeText(limits.bytes)),
    right: true,
  },
  { title: 'SUBMITS/S', value: ({ limits }) => limits.submitsPerSecond, right: true },
]

const beside = (figure: number | string, limit: number | string | null): string =>
  limit === null ? String(figure) : `${figure}/${limit}`

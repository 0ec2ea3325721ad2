// Tenants: how they share what runs, next to what each is allowed. A tenant with much to do and little that runs is the one to
// look at.

import { setParams } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { count, share } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'

type Tenant = OperationOutput<'listTenants'>['items'][number]

interface Row extends Tenant {
  /** Of all that runs, and of all that has not ended. */
  readonly runs: number
  readonly has: number
}

export function Tenants() {
  const asked = useOperation('listTenants', { limit: 1_000 })
  return (
    <Answered of={asked} what="tenants">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="There is no tenant yet." command="npx reprise tenants">
            A task that names no tenant belongs to the tenant default.
          </Empty>
        ) : (
          <DataTable
            label="Tenants"
            rows={rowsOf(items)}
            keyOf={({ tenant }) => tenant}
            columns={COLUMNS}
            isFilled={true}
            onOpen={({ tenant }) => setParams({ list: null, tenant })}
          />
        )
      }
    </Answered>
  )
}

function rowsOf(tenants: readonly Tenant[]): readonly Row[] {
  const sum = (of: (tenant: Tenant) => number): number => tenants.reduce((total, one) => total + of(one), 0)
  const runs = sum(({ running }) => running)
  const has = sum(({ backlog }) => backlog)
  return tenants
    .map((tenant) => ({ ...tenant, runs, has }))
    .toSorted((one, other) => other.backlog - one.backlog || (one.tenant < other.tenant ? -1 : 1))
}

const Bar = ({ part, of, colour }: { readonly part: number; readonly of: number; readonly colour: string }) => (
  <span className="flex items-center gap-2">
    <span aria-hidden="true" className="h-2 min-w-0 flex-1 bg-sunken">
      <span
        className={`block h-2 ${colour}`}
        style={{ width: of === 0 ? '0' : `${(100 * part) / of}%`, minWidth: part === 0 ? 0 : 1 }}
      />
    </span>
    <span className="w-12 text-right">{share(part, of)}</span>
  </span>
)

/** A limit may be a share of all slots: `80%`. */
const limited = (value: number | string | null): string => {
  if (value === null) return ''
  return typeof value === 'number' ? ` of ${count(value)}` : `, at most ${value.replace('%', ' %')}`
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'tenant',
    title: 'Tenant',
    width: 'minmax(96px, 1fr)',
    cell: ({ tenant }) => <bdi title={tenant}>{tenant}</bdi>,
  },
  {
    id: 'backlog',
    title: 'Not ended',
    width: 'minmax(80px, 140px)',
    isNumber: true,
    cell: ({ backlog, limits }) => `${count(backlog)}${limited(limits.backlog)}`,
  },
  {
    id: 'running',
    title: 'Running',
    width: 'minmax(96px, 140px)',
    isNumber: true,
    cell: ({ running, limits }) => `${count(running)}${limited(limits.running)}`,
  },
  {
    id: 'has',
    title: 'Its part of the work',
    width: 'minmax(120px, 1fr)',
    from: 640,
    cell: ({ backlog, has }) => <Bar part={backlog} of={has} colour="bg-queued" />,
  },
  {
    id: 'runs',
    title: 'Its part of what runs',
    width: 'minmax(120px, 1fr)',
    from: 640,
    cell: ({ running, runs }) => <Bar part={running} of={runs} colour="bg-running" />,
  },
]

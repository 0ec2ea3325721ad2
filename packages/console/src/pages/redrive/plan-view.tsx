// What a redrive would do: which dead letters, what stands in the way, what a patch changes in each.

import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many, span } from '../../format.ts'
import { Differences } from '../../parts/differences.tsx'
import { Id } from '../../parts/texts.tsx'

type Redrive = OperationOutput<'getRedrive'>
type Named = readonly { readonly name: string; readonly count: number }[]

const ITEMS = 5

export function PlanView({ redrive: { id, total, found, preflight, plan } }: { readonly redrive: Redrive }) {
  const hasPatch = plan.patch !== null
  const items = useOperation('listRedriveItems', { id, limit: ITEMS }, { enabled: hasPatch, everyMs: false })
  const warnings = preflight?.warnings ?? []
  return (
    <div className="flex flex-col gap-3">
      <p className="text-lg font-semibold">
        {total === 0 ? 'No dead letter is like that any more.' : `${many(total, 'task')} would run again.`}
      </p>
      {warnings.length === 0 && total > 0 && <p className="text-succeeded">✓ Nothing stands in the way.</p>}
      <ul className="flex flex-col gap-1">
        {warnings.map((warning) => (
          <li key={warning}>
            <span className="text-waiting">◔</span> <bdi>{warning}</bdi>
          </li>
        ))}
      </ul>
      {preflight?.estimatedMs != null && <p className="text-dim">It takes about {span(preflight.estimatedMs)}.</p>}
      <div className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3">
        <Values name="Actions" values={found.actions} />
        <Values name="Tenants" values={found.tenants} />
        <Values name="Dead for less than" values={found.ages} />
      </div>
      <div>
        <p className="text-sm text-dim">Causes</p>
        {found.causes.map(({ fingerprint, message, count: some }) => (
          <p key={fingerprint} className="flex justify-between gap-3">
            <bdi className="min-w-0 truncate" title={message}>
              {message}
            </bdi>
            {count(some)}
          </p>
        ))}
      </div>
      {items.data?.items.map(({ taskId, changes, problem }) => (
        <div key={taskId}>
          <p className="text-sm text-dim">
            The patch in <Id id={taskId} />
          </p>
          {problem !== null && <p className="text-dead">✕ {problem}</p>}
          {changes !== null && (
            <Differences
              before="now"
              after="patched"
              rows={changes.map(({ path, before, after }) => ({
                feature: path === '' ? 'all of it' : path,
                before,
                after,
              }))}
            />
          )}
        </div>
      ))}
    </div>
  )
}

const Values = ({ name, values }: { readonly name: string; readonly values: Named }) => (
  <div className="min-w-0">
    <p className="text-sm text-dim">{name}</p>
    {values.slice(0, 6).map((one) => (
      <p key={one.name} className="flex justify-between gap-2">
        <bdi className="truncate" title={one.name}>
          {one.name}
        </bdi>
        {count(one.count)}
      </p>
    ))}
  </div>
)

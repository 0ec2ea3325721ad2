// Lanes and pools: what waits where, what holds it and whose hold that is, how fast pools work, and how tenants share them.

import { setParams, useParam, useParams } from '../../address.tsx'
import { useSeesAll } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Page } from '../../shell/page.tsx'
import type { Lane } from './lane.ts'
import { LaneList } from './lane-list.tsx'
import { Pools } from './pools.tsx'
import { Tenants } from './tenants.tsx'

/** As many as one answer holds. */
const LIMIT = 1_000

export default function LanesPage() {
  const { action, tenant, pool } = useParams()
  const [list] = useParam('list', 'lanes')
  const seesAll = useSeesAll()
  const asked = useOperation('listLanes', { action, tenant, pool, limit: LIMIT })
  const lanes = asked.data?.items
  const isAll = action === undefined && tenant === undefined && pool === undefined
  return (
    <Page
      title="Lanes"
      isFilled={true}
      sentence={lanes === undefined ? undefined : sentenceOf(lanes, asked.data?.next != null)}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        {seesAll && (
          <AddressChoice
            label="What to list"
            param="list"
            missing="lanes"
            choices={[
              { value: 'lanes', word: 'Lanes', ...(lanes === undefined ? {} : { count: lanes.length }) },
              { value: 'pools', word: 'Pools' },
              { value: 'tenants', word: 'Tenants' },
            ]}
          />
        )}
        {list === 'lanes' && <ScopeFields isAll={isAll} />}
      </div>
      {list === 'pools' ? (
        <Pools />
      ) : list === 'tenants' ? (
        <Tenants />
      ) : (
        <Answered of={asked} what="lanes">
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                title={isAll ? 'There is no lane yet: nothing was submitted.' : 'No lane is like that.'}
                command={`npx reprise submit hello '{"name":"Ann"}' --wait`}
              >
                A lane is all tasks of one action and tenant in one pool. Its first task makes it.
              </Empty>
            ) : (
              <LaneList lanes={items} scope={{ action, tenant, pool }} />
            )
          }
        </Answered>
      )}
    </Page>
  )
}

function sentenceOf(lanes: readonly Lane[], isPart: boolean): string {
  const sum = (of: (lane: Lane) => number): number => lanes.reduce((total, lane) => total + of(lane), 0)
  const waits = sum(({ counts }) => counts.queued + counts.waiting)
  const held = lanes.filter(({ gates }) => gates.length > 0)
  const parked = held.reduce((total, { counts }) => total + counts.queued + counts.waiting, 0)
  const least = isPart ? '≥ ' : ''
  const where = `${least}${many(waits, 'task')} wait${waits === 1 ? 's' : ''} and ${least}${count(sum(({ counts }) => counts.running))} run in ${least}${many(lanes.length, 'lane')}`
  if (held.length === 0) return `${where}. Nothing is held.`
  return `${where}. ${many(held.length, 'lane is', 'lanes are')} held, with ${many(parked, 'task')}.`
}

const FIELDS = ['action', 'tenant', 'pool'] as const

/** Which lanes: exact names, in the address. */
function ScopeFields({ isAll }: { readonly isAll: boolean }) {
  const params = useParams()
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      // Another scope from elsewhere is shown as well.
      key={FIELDS.map((field) => params[field] ?? '').join('\n')}
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const typed = (field: string): string | null => {
          const value = form.get(field)
          return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
        }
        setParams(Object.fromEntries(FIELDS.map((field) => [field, typed(field)])))
      }}
    >
      {FIELDS.map((field) => (
        <input
          key={field}
          name={field}
          aria-label={field}
          placeholder={`any ${field}`}
          defaultValue={params[field] ?? ''}
          className={`field h-7 text-sm ${field === 'action' ? 'w-36' : 'w-28'} ${field === 'pool' ? 'max-sm:hidden' : ''}`}
        />
      ))}
      <button type="submit" className="button h-7 text-sm">
        Show
      </button>
      {!isAll && (
        <button
          type="button"
          className="button h-7 text-sm"
          onClick={() => setParams({ action: null, tenant: null, pool: null })}
        >
          All
        </button>
      )}
    </form>
  )
}

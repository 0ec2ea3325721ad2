// Pools: how deep, how fast, and how many workers each would need to start tasks within ten seconds, with the sum in words.

import { setParams } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { count, span } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'

type Signal = OperationOutput<'scaling'>['items'][number]

export function Pools() {
  const asked = useOperation('scaling', {})
  return (
    <Answered of={asked} what="pools">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="There is no pool yet." command="npx reprise scaling">
            A pool is where tasks of an action run. The first worker or the first task makes one.
          </Empty>
        ) : (
          <DataTable
            label="Pools"
            rows={items}
            keyOf={({ pool }) => pool}
            columns={COLUMNS}
            isFilled={true}
            onOpen={({ pool }) => setParams({ list: null, pool })}
          />
        )
      }
    </Answered>
  )
}

const rate = (perSecond: number): string => {
  const perMinute = perSecond * 60
  return `${perMinute < 10 ? perMinute.toFixed(1) : count(Math.round(perMinute))}/m`
}

const COLUMNS: readonly Column<Signal>[] = [
  { id: 'pool', title: 'Pool', width: 'minmax(96px, 1fr)', cell: ({ pool }) => <bdi title={pool}>{pool}</bdi> },
  { id: 'depth', title: 'To start', width: '72px', isNumber: true, cell: ({ numbers }) => count(numbers.depth) },
  {
    id: 'running',
    title: 'Running',
    width: '72px',
    isNumber: true,
    from: 400,
    cell: ({ numbers }) => count(numbers.running),
  },
  {
    id: 'in',
    title: 'Come in',
    width: '80px',
    isNumber: true,
    from: 560,
    cell: ({ numbers }) => rate(numbers.arrivedPerSecond),
  },
  {
    id: 'out',
    title: 'End',
    width: '80px',
    isNumber: true,
    from: 560,
    cell: ({ numbers }) => rate(numbers.finishedPerSecond),
  },
  {
    id: 'wait',
    title: 'Wait',
    width: '80px',
    isNumber: true,
    from: 700,
    cell: ({ numbers: { depth, running, finishedPerSecond } }) =>
      depth === 0
        ? '–'
        : running === 0 || finishedPerSecond === 0
          ? 'unknown'
          : span((depth / finishedPerSecond) * 1_000),
  },
  {
    id: 'workers',
    title: 'Workers',
    width: '120px',
    cell: ({ workers, workersNow }) =>
      workers !== null && workers > workersNow ? (
        <span className="text-waiting">
          ◔ {count(workersNow)}, needs {count(workers)}
        </span>
      ) : (
        `${count(workersNow)}${workers === null ? '' : ', enough'}`
      ),
  },
  {
    id: 'sum',
    title: 'How that is known',
    width: 'minmax(0, 2fr)',
    from: 900,
    cell: ({ sum }) => <bdi title={sum}>{sum}</bdi>,
  },
]

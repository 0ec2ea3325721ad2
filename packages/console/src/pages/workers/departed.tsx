// The workers that left in the last day and did not come back.

import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { span } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { POOLS_COLUMN, WORKER_COLUMN } from './worker-columns.tsx'

type Left = OperationOutput<'listDepartedWorkers'>['items'][number]

export function Departed() {
  const asked = useOperation('listDepartedWorkers', { limit: 500 })
  return (
    <Answered of={asked} what="workers that left">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No worker left in the last day." command="npx reprise workers --left">
            A worker that stops, or that is silent for a day, is listed here for a day. It gets no work and counts
            nowhere.
          </Empty>
        ) : (
          <DataTable
            label="Workers that left"
            rows={items}
            keyOf={({ worker, epoch }) => `${worker} ${epoch}`}
            columns={COLUMNS}
            isFilled={true}
          />
        )
      }
    </Answered>
  )
}

const COLUMNS: readonly Column<Left>[] = [
  WORKER_COLUMN,
  { id: 'left', title: 'Left', width: '80px', cell: ({ leftAt }) => <Ago at={leftAt} /> },
  {
    id: 'worked',
    title: 'Was here for',
    width: '104px',
    from: 560,
    cell: ({ registeredAt, leftAt }) => span(leftAt - registeredAt),
  },
  { id: 'version', title: 'Version', width: '88px', cell: ({ version }) => <bdi>{version}</bdi> },
  { id: 'host', title: 'Host', width: '140px', from: 700, cell: ({ host }) => <bdi>{host}</bdi> },
  POOLS_COLUMN,
]

// Columns that lists of workers share, of those that are there and those that have left.

import type { Column } from '../../parts/data-table.tsx'

export const WORKER_COLUMN: Column<{ readonly worker: string }> = {
  id: 'worker',
  title: 'Worker',
  width: 'minmax(120px, 1fr)',
  cell: ({ worker }) => (
    <bdi className="font-mono text-sm" title={worker}>
      {worker}
    </bdi>
  ),
}

export const POOLS_COLUMN: Column<{ readonly pools: readonly string[] }> = {
  id: 'pools',
  title: 'Pools',
  width: '140px',
  from: 1_000,
  cell: ({ pools }) => <bdi title={pools.join(', ')}>{pools.join(', ')}</bdi>,
}

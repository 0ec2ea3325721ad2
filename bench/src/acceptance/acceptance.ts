// The measured table of what recovery is to achieve (B15), on one engine. Each row has a store of its own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import type { EngineName } from '../arguments.ts'
import { killedWorkers } from './killed-workers.ts'
import { type Outage, outages, redisOutage, sqliteOutage } from './outage.ts'
import { replayedBatch } from './replay.ts'
import type { Bounds, Row } from './row.ts'
import { transientFaults } from './transient.ts'
import { trackedWorkOrders } from './work-orders.ts'

type Measure = (address: string, bounds: Bounds, outage: Outage) => Promise<Row>

export const MEASURES: readonly Measure[] = [transientFaults, killedWorkers, trackedWorkOrders, replayedBatch, outages]

export async function acceptanceOf(
  engine: EngineName,
  bounds: Bounds,
  measures: readonly Measure[] = MEASURES,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const measure of measures) {
    rows.push(await onStore(engine, (address, outage) => measure(address, bounds, outage)))
  }
  return rows
}

async function onStore(engine: EngineName, work: (address: string, outage: Outage) => Promise<Row>): Promise<Row> {
  if (engine === 'redis') {
    const server = await startRedis({ appendonly: true, appendfsync: 'always' })
    try {
      return await work(server.url, redisOutage(server))
    } finally {
      await server.stop()
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-acceptance-'))
  const path = join(folder, 'reprise.db')
  try {
    return await work(`sqlite:${path}`, sqliteOutage(path))
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

// Vouching for a worker whose event loop is blocked: by the engine, and by a thread with a connection of its own
// (vouching-program.ts). Both call the same function of the store, in each partition.

import type { Clock, Voucher, VouchRequest } from '@reprise/core'
import { checkLeaseMs, type VouchResult } from '@reprise/core/engine'
import { ordered, VOUCH } from './layout.ts'
import { parseEndpoint } from './link/endpoint.ts'
import { asTexts, type Partition } from './partition.ts'
import { vouchScript } from './scripts.generated.ts'
import { VOUCHING_PROGRAM } from './vouching-program.ts'

export async function vouch(partition: Partition, request: VouchRequest): Promise<VouchResult> {
  checkLeaseMs(request.leaseMs)
  const { worker, outlook } = request
  let renewed = 0
  let cursor = '0'
  do {
    const args = ordered(VOUCH, {
      worker,
      epoch: String(request.epoch),
      leaseMs: String(request.leaseMs),
      outlook: outlook === null ? '' : `=${outlook}`,
      cursor,
    })
    const [next = '0', some = '0'] = asTexts(await partition.run(vouchScript, args))
    renewed += Number(some)
    cursor = next
  } while (cursor !== '0')
  return { renewed }
}

export interface VoucherParts {
  readonly urls: readonly string[]
  readonly partitions: readonly Partition[]
  /** Null where the server's own time counts. */
  readonly clock: Clock | null
}

/** A thread has no way to a clock that a test gave. */
export function redisVoucher({ urls, partitions, clock }: VoucherParts): Voucher | null {
  if (clock !== null) return null
  const data = {
    endpoints: urls.map(parseEndpoint),
    keys: partitions.map((partition) => partition.key('numbers')),
    functionName: vouchScript.name,
    library: vouchScript.library.text,
  }
  return { program: VOUCHING_PROGRAM, data }
}

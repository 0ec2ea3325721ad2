// Leases as a worker over HTTP has them: the victim's task, claimed, with the credential that ends it.

import type { Scene } from '../stage/scene.ts'
import { submitted } from './tasks.ts'

interface Lease {
  readonly taskId: string
  readonly attempt: number
  readonly token: string
}

export async function leased({ b, wholeStore }: Scene, name: string): Promise<Lease> {
  const pool = `${name}-${b.tenant}`
  await submitted(await b.as(['submit']), { action: 'b.leased', pool })
  const api = await wholeStore('worker')
  const worker = `holder-${pool}`
  const { body } = await api.post<{ readonly epoch: number }>('/api/v1/workers', { worker, pools: [pool] })
  const claims = await api.post<{ readonly claimed?: readonly Lease[] }>('/api/v1/claims', {
    worker,
    epoch: body.epoch,
    pools: [pool],
  })
  const [lease] = claims.body.claimed ?? []
  if (lease === undefined) throw new Error('Nothing was claimed.')
  return lease
}

// Claims whose answer never came. Such a claim may have taken effect all the same, and even much later: a server that
// stood still goes through whatever was sent to it before. So a worker's next claim is made as a repetition of it, under
// the same request id: it answers with the leases that nobody heard of, which would end as lost otherwise.

import type { ClaimRequest, WorkerId } from '@reprise/core'
import { ScriptRefusal } from './link/link.ts'

/** Names one call, so that its repetition is known as such. */
export type DrawRequestId = () => string

interface UnheardClaim {
  readonly epoch: number
  readonly requestId: string
}

export class UnheardClaims {
  readonly #byWorker = new Map<WorkerId, UnheardClaim[]>()

  async claim<Answer>(
    { worker, epoch }: Pick<ClaimRequest, 'worker' | 'epoch'>,
    drawRequestId: DrawRequestId,
    send: (requestId: string) => Promise<Answer>,
  ): Promise<Answer> {
    const requestId = this.#take(worker, epoch) ?? drawRequestId()
    try {
      return await send(requestId)
    } catch (error) {
      if (!(error instanceof ScriptRefusal)) this.#add(worker, { epoch, requestId })
      throw error
    }
  }

  /** Of two claims made at once, each repeats another one. */
  #take(worker: WorkerId, epoch: number): string | null {
    const unheard = this.#byWorker.get(worker)
    if (unheard === undefined) return null
    const first = unheard.shift()
    if (unheard.length === 0) this.#byWorker.delete(worker)
    if (first === undefined) return null
    // A worker that has registered anew has lost its leases.
    return first.epoch === epoch ? first.requestId : this.#take(worker, epoch)
  }

  #add(worker: WorkerId, claim: UnheardClaim): void {
    const unheard = this.#byWorker.get(worker)
    if (unheard === undefined) this.#byWorker.set(worker, [claim])
    else unheard.push(claim)
  }
}

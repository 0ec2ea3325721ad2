// Claims for workers over HTTP: waits for work, takes no more than an answer can carry, and gives back at once what its worker
// did not get. Others should not have to wait for leases to end that nobody holds.

import {
  actionsOfAnyHealth,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  type Clock,
  claimedWhateverHealth,
  idleAfter,
  released,
  untilClaimable,
} from '@reprise/core'
import type { Context } from '@reprise/operations'
import type { FastifyReply } from 'fastify'

/** Of payloads in one answer, in characters. One task is given in any case. */
const PAYLOADS_LENGTH_MAX = 8 * 1_048_576
/** What is claimed before it is known how large payloads are here, and at each step after that. */
const FIRST_MAX = 32
const STEP_MAX = 100
/** How often the loop goes round before an answer: in one a closed connection is seen, in the next the answer's end is told. */
const TURNS = 3

/** Claims, and waits for work if there is none. */
export async function claimFor(
  context: Context,
  request: ClaimRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<ClaimResult> {
  const { engine, clock } = context
  const until = clock.monotonic() + waitMs
  for (;;) {
    const since = engine.mark()
    const result = await claimOnce(context, request)
    if (result.claimed.length > 0) {
      for (let turn = 0; turn < TURNS; turn++) await aTurn(clock)
      if (!signal.aborted) return result
      await giveBack(context, result.claimed, GONE)
      return { ...result, claimed: [] }
    }
    const restMs = until - clock.monotonic()
    if (restMs <= 0 || signal.aborted) return result
    const { pools, actions, worker: inbox } = request
    await untilClaimable(engine, idleAfter(result, since, clock), {
      pools,
      actions,
      inbox,
      clock,
      signal,
      atMostMs: restMs,
    })
  }
}

const GONE = 'The worker that asked for it had gone.'

/** Makes the answer; what can't be put into one is given back. */
export async function answerWith<T>(context: Context, claimed: readonly Claimed[], make: () => T): Promise<T> {
  try {
    return make()
  } catch (error) {
    await giveBack(context, claimed, 'It could not be put into an answer.')
    throw error
  }
}

/**
 * Gives back what was claimed if the connection closes before the answer was handed to the network. A worker that has read it
 * all is not meant: its answer was finished. Whatever a worker does with half an answer is fenced.
 */
export function giveBackUnlessSent(context: Context, claimed: readonly Claimed[], { raw }: FastifyReply): void {
  if (claimed.length === 0) return
  raw.once('close', () => {
    if (raw.writableFinished) return
    void giveBack(context, claimed, GONE)
  })
}

/** Never throws. */
async function giveBack({ engine, log }: Context, claimed: readonly Claimed[], why: string): Promise<void> {
  if (claimed.length === 0) return
  try {
    await engine.settle(claimed.map((one) => released(one, why)))
  } catch (error) {
    log.warn('Leases that their worker never heard of could not be given back; they end by themselves.', {
      tasks: claimed.length,
      error: error instanceof Error ? error.message : String(error),
    })
  }
}

/** Also of a worker that is held back, for the actions for which its health does not matter. */
async function claimStep({ engine, policies, catalogue }: Context, request: ClaimRequest): Promise<ClaimResult> {
  const first = await engine.claim(request)
  if (first.heldBack === null) return first
  const asked = request.actions === null ? null : await Promise.all(request.actions.map((name) => catalogue.find(name)))
  return claimedWhateverHealth(engine, request, first, actionsOfAnyHealth(policies.current(), asked))
}

/** In a few steps, so that large payloads are not all read at once. */
async function claimOnce(context: Context, request: ClaimRequest): Promise<ClaimResult> {
  let ask = Math.min(request.limit, FIRST_MAX)
  let result = await claimStep(context, { ...request, limit: ask })
  let taken = result.claimed
  while (result.claimed.length === ask && taken.length < request.limit) {
    const length = lengthOf(taken)
    const room = PAYLOADS_LENGTH_MAX - length
    const fits = Math.floor(room / Math.max(length / taken.length, 1))
    ask = Math.min(request.limit - taken.length, fits, STEP_MAX)
    if (ask < 1) break
    try {
      result = await claimStep(context, { ...request, limit: ask })
    } catch {
      // What was taken is the worker's. If there is still something wrong at its next claim, it will hear of it then.
      break
    }
    taken = [...taken, ...result.claimed]
  }
  const fitting = fittingOf(taken)
  await giveBack(context, taken.slice(fitting), 'It did not fit into the answer.')
  return { ...result, claimed: taken.slice(0, fitting) }
}

/** How many of them, from the first. */
function fittingOf(claimed: readonly Claimed[]): number {
  let length = 0
  const surplus = claimed.findIndex(({ snapshot }, index) => {
    length += snapshot.payload.length
    return index > 0 && length > PAYLOADS_LENGTH_MAX
  })
  return surplus === -1 ? claimed.length : surplus
}

const lengthOf = (claimed: readonly Claimed[]): number =>
  claimed.reduce((length, { snapshot }) => length + snapshot.payload.length, 0)

const aTurn = (clock: Clock): Promise<void> => new Promise((resolve) => clock.soon(resolve))

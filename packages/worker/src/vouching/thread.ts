// The thread that vouches, as a text: bundlers have nothing to follow, and it loads nothing but what it uses. It looks
// at a count that the event loop raises all the time. While the count stands still, the process lives and its event loop
// is blocked: the thread asks what runs there, and vouches for the workers of the process until the loop goes on, or
// until the time-out of the execution that blocks it has passed.
//
// A process that was stopped as a whole (SIGSTOP, a frozen container) stops this thread too. Then nobody vouches; and
// when both go on, the event loop first gets the time to speak for itself.

import { QUESTION } from '../running-now.ts'

/** How much later than planned a look may be before the whole process counts as having stood still. */
const STOOD_STILL_MS = 1_000
/** Between two vouches for a blocked worker, at the most: one must fall between the time-out of an attempt and its end. */
const VOUCH_EVERY_MS = 1_000
/** After its time-out: until then the sweep ends the attempt as timed out. */
const TIMEOUT_GRACE_MS = 5_000
/** An answer that came with the end of the block is waited for this long. */
const ANSWER_MS = 100

export const THREAD = String.raw`
const { writeSync } = require('node:fs')
const { parentPort, workerData } = require('node:worker_threads')
const { count, everyMs } = workerData
const ticks = new Int32Array(count)
const workers = new Map()
const stores = new Map()
const now = () => Number(process.hrtime.bigint() / 1000n) / 1000

let seen = Atomics.load(ticks, 0)
let seenAt = now()
let lookedAt = seenAt
let block = null

const storeOf = ({ program, data }) => {
  const key = program + JSON.stringify(data)
  let store = stores.get(key)
  if (store === undefined) {
    store = new Function('require', 'data', program)(require, data)
    stores.set(key, store)
  }
  return store
}

const seconds = (ms) => (ms < 10000 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000))) + ' s'

function words(at) {
  const { culprit } = block
  const by = culprit === null ? '' : culprit.task === null ? ' outside of its handlers' : ' by ' + culprit.action + ' (task ' + culprit.task + ')'
  const place = culprit === null || culprit.place === null ? '' : ', at ' + culprit.place
  return 'its event loop has been blocked for ' + seconds(at - block.since) + by + place
}

// The answer comes while JavaScript runs there, and else right after the call that blocks.
function ask() {
  const asked = block
  try {
    const { Session } = require('node:inspector')
    const session = new Session()
    session.connectToMainThread()
    const expression = 'globalThis[Symbol.for(${JSON.stringify(QUESTION)})]()'
    session.post('Runtime.evaluate', { expression, returnByValue: true, silent: true }, (error, reply) => {
      try {
        if (error === null) {
          const culprit = JSON.parse(reply.result.value)
          asked.culprit = { ...culprit, endsAt: culprit.timeoutInMs === null ? null : now() + culprit.timeoutInMs }
        }
      } catch {
        // Nobody can tell then.
      }
      session.disconnect()
    })
  } catch {
    // No inspector in this process: nobody can tell which task it is.
  }
}

// A moment later, so that the answer is there and the outlook names the task.
async function vouchFor(worker, at) {
  await new Promise((resolve) => setTimeout(resolve, 10))
  if (block === null) return
  const asked = block
  try {
    const outlook = (workerData.prefix + words(at)).slice(0, 200)
    const { renewed } = await storeOf(worker.voucher).vouch({ worker: worker.id, epoch: worker.epoch, leaseMs: worker.leaseMs, outlook })
    if (renewed > 0) noteVouch(worker, at)
    asked.vouchedFor.add(worker.id)
  } catch (error) {
    asked.error = String(error && error.message)
  }
}

// From when on leases have been vouched for without a gap, and until when. One that had ended before was not renewed: it
// may be somebody else's. In this order, so that nobody reads the new end beside the old beginning.
function noteVouch(worker, at) {
  const [FROM, UNTIL] = [0, 1]
  const span = new BigInt64Array(worker.vouched)
  const answeredAt = process.hrtime.bigint()
  if (Atomics.load(span, UNTIL) < answeredAt) Atomics.store(span, FROM, answeredAt)
  Atomics.store(span, UNTIL, BigInt(Math.floor((at + worker.leaseMs) * 1e6)))
}

function tell(line) {
  try {
    writeSync(2, line)
  } catch {
    // Nobody reads it, or the disk is full.
  }
}

function giveUp(at) {
  block.isGivenUp = true
  tell('reprise: ' + words(at) + ', which is past the time-out of that task. Its other tasks go to other workers. Restart this process.\n')
}

function look() {
  const at = now()
  const lateMs = at - lookedAt - everyMs
  lookedAt = at
  const ticked = Atomics.load(ticks, 0)
  if (ticked !== seen) {
    if (block !== null) end(at)
    seen = ticked
    seenAt = at
    return
  }
  if (lateMs > ${STOOD_STILL_MS}) {
    seenAt = at
    return
  }
  for (const worker of workers.values()) {
    if (at - seenAt < worker.leaseMs / 6 || worker.epoch === null) continue
    if (block === null) {
      block = { since: seenAt, culprit: null, error: null, isGivenUp: false, vouchedFor: new Set() }
      ask()
    }
    const { culprit } = block
    if (culprit !== null && culprit.endsAt !== null && at > culprit.endsAt + ${TIMEOUT_GRACE_MS}) {
      if (!block.isGivenUp) giveUp(at)
      continue
    }
    if (worker.vouching !== null || at - worker.vouchedAt < Math.min(worker.leaseMs / 3, ${VOUCH_EVERY_MS})) continue
    worker.vouchedAt = at
    worker.vouching = vouchFor(worker, at).finally(() => {
      worker.vouching = null
    })
  }
}

function end(at) {
  const ended = block
  block = null
  const ms = Math.round(at - ended.since)
  const underWay = Array.from(workers.values(), ({ vouching }) => vouching)
  setTimeout(async () => {
    // What is under way still says that the worker is blocked: its next heartbeat must come after that.
    await Promise.all(underWay)
    if (block === null) for (const store of stores.values()) store.close()
    const { culprit, error, vouchedFor } = ended
    parentPort.postMessage({ ms, culprit, error, workers: [...vouchedFor] })
  }, ${ANSWER_MS})
}

const timer = setInterval(look, everyMs)

parentPort.on('message', (order) => {
  if (order.kind === 'close') {
    clearInterval(timer)
    for (const store of stores.values()) store.close()
    parentPort.close()
  } else if (order.kind === 'leave') workers.delete(order.id)
  else workers.set(order.id, { ...order, vouchedAt: 0, vouching: null })
})
`

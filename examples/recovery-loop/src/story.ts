// What the example shows, step by step, and checks on the way: it throws where something is not as it says.

import assert from 'node:assert/strict'
import type { Client } from '@reprise/client'
import { type Engine, sleep, systemClock } from '@reprise/core'
import type { FakePager, Page } from '@reprise/test-servers'
import type { Bank } from './bank.ts'
import type { House } from './house.ts'

export type Tell = (line: string) => void

const TASKS = 12
const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 50

export async function show(engine: Engine, house: House, bank: Bank, pager: FakePager, tell: Tell): Promise<void> {
  const { operator } = house
  await operator.createChannel({
    name: 'pager',
    kind: 'pagerduty',
    settings: { routingKey: 'example', url: pager.url },
  })
  await delayedRetry(house, bank, pager, tell)
  const fingerprint = await escalation(house, bank, pager, tell)
  await recovery(operator, fingerprint, bank, pager, tell)
  const { accepted, succeeded, dead } = await operator.counts()
  assert.deepEqual([succeeded, dead, bank.transfers.size], [accepted, 0, accepted])
  tell('')
  tell(
    `Shown on ${engine.info.kind}: ${succeeded} of ${accepted} tasks succeeded, and the bank made ${bank.transfers.size} transfers. ` +
      `1 work order and 1 page for ${TASKS} dead letters; both closed by themselves.`,
  )
}

/** D-1: nobody is called for what a retry mends. */
async function delayedRetry({ operator, transfer }: House, bank: Bank, pager: FakePager, tell: Tell): Promise<void> {
  tell('A failure, and a delayed retry')
  bank.refusals = 1
  const task = await operator.submit(transfer, { amount: 10 })
  await task.result()
  const { items } = await operator.listExecutions({ id: task.id })
  for (const { attempt, status, failure } of items) {
    tell(`  attempt ${attempt}: ${status}${failure === null ? '' : `, ${failure.message}`}`)
  }
  assert.deepEqual(
    items.map(({ status }) => status),
    ['failed', 'succeeded'],
  )
  assert.deepEqual(pager.pages, [])
  tell('  Nobody was called.')
}

/** D-2, the first half: what retries do not mend makes one work order and one page, however many tasks died. */
async function escalation({ operator, transfer }: House, bank: Bank, pager: FakePager, tell: Tell): Promise<string> {
  tell('')
  tell('An outage, and an escalation')
  bank.refusals = Number.POSITIVE_INFINITY
  const tasks = await operator.submitMany(
    transfer,
    Array.from({ length: TASKS }, (_, amount) => ({ amount })),
  )
  await Promise.allSettled(tasks.map((task) => task.result()))
  tell(`  The bank is down. ${(await operator.counts()).dead} tasks died after a retry each.`)
  const page = await heard(pager, 'trigger')
  tell(`  The pager rings once: ${page.payload?.severity ?? ''}, ${page.payload?.summary ?? ''}`)
  const { items } = await operator.listWorkOrders({})
  const [order] = items
  assert.equal(items.length, 1)
  assert(order !== undefined)
  tell(`  One work order for all of them: ${order.action}, ${order.severity}, ${order.state.status}.`)
  await operator.takeWorkOrder({ id: order.id })
  await heard(pager, 'acknowledge')
  tell('  Ann takes it. The pager stops ringing.')
  return order.subject.fingerprint
}

/** D-2, the second half: a runbook, and everything closes by itself. */
async function recovery(
  operator: Client,
  fingerprint: string,
  bank: Bank,
  pager: FakePager,
  tell: Tell,
): Promise<void> {
  tell('')
  tell('A runbook, and the recovery')
  const { items } = await operator.listRunbooks({ fingerprint })
  const [suggested] = items
  assert(suggested !== undefined && suggested.suggested !== null)
  tell(`  Suggested for this cause: ${suggested.name}, because ${suggested.suggested}.`)
  const inputs = { fingerprint, rate: 1_000 }
  const { id } = await operator.startRunbook({ name: suggested.name, inputs, reason: 'the bank was down' })
  const asking = await soon('The run asks nothing.', async () => {
    const run = await operator.getRunbookRun({ id })
    return run.question === null ? null : run
  })
  tell(`  It asks: ${asking.question?.text ?? ''}`)
  bank.refusals = 0
  await operator.answerRunbookRun({ id, answer: 'yes' })
  tell('  The bank is back. Ann says yes.')
  const run = await soon('The run does not end.', async () => {
    const now = await operator.getRunbookRun({ id })
    return now.state === 'running' ? null : now
  })
  for (const { title, state } of run.steps) tell(`  ${state}: ${title}`)
  assert.equal(run.state, 'succeeded')
  await heard(pager, 'resolve')
  const closed = await operator.listWorkOrders({ status: 'resolved' })
  const [state] = closed.items.map((order) => order.state)
  assert(state?.status === 'resolved' && state.because === 'recovered')
  tell(`  The work order is resolved by itself: ${state.result}`)
  tell('  The pager hears that it is over.')
  assert.deepEqual(
    pager.pages.map(({ event_action }) => event_action),
    ['trigger', 'acknowledge', 'resolve'],
  )
  assert.equal(new Set(pager.pages.map(({ dedup_key }) => dedup_key)).size, 1)
}

const heard = (pager: FakePager, what: Page['event_action']): Promise<Page> =>
  soon(`The pager heard no ${what}.`, async () => pager.pages.find(({ event_action }) => event_action === what) ?? null)

/** Looks again and again, until there is something. */
async function soon<Found>(complaint: string, look: () => Promise<Found | null>): Promise<Found> {
  const { signal } = new AbortController()
  const giveUpAt = systemClock.now() + PATIENCE_MS
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (systemClock.now() > giveUpAt) throw new Error(complaint)
    await sleep(systemClock, LOOK_EVERY_MS, signal, { hold: true })
  }
}

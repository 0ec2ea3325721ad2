// The tasks of the demo and their submission: how many of which action, which of them meet a fault, and for whom. The
// same seed draws the same tasks. Most go well, as in real life: a worker that mostly fails is given little to do.

import type { Client, SubmitOptions, SubmittedTask } from '@reprise/client'
import type { Random } from '@reprise/core'
import {
  buildReport,
  chargePayment,
  importContact,
  type Rehearsal,
  sendEmail,
  syncStock,
  transcodeVideo,
} from './actions.ts'

export const TENANTS = ['acme', 'globex', 'initech'] as const

/** More faults than any action has retries or losses to spend. */
const ALWAYS = 99

/** Of all tasks; e-mails are the rest. */
const SHARES = { payments: 0.22, stock: 0.14, reports: 0.12, contacts: 0.12, videos: 0.04 } as const

/** Submits this many tasks. Comes back with the number that was accepted, which is durable by then. */
export async function submitWorkload(client: Client, taskCount: number, random: Random): Promise<number> {
  const counts = split(taskCount)
  const draw = new Draw(random)
  const optionsFor = (prefix: string) => (_input: unknown, index: number) => draw.options(`${prefix}-${index + 1}`)
  const submitted: readonly (readonly SubmittedTask[])[] = [
    await client.submitMany(transcodeVideo, videos(draw, counts.videos), ({ faultyAttempts }, index) => ({
      ...draw.options(`video-${index + 1}`),
      // One crash after the other, rather than all at once.
      ...(faultyAttempts > 0 ? { delay: index * 1_500 } : {}),
    })),
    await client.submitMany(sendEmail, emails(draw, counts.emails), optionsFor('email')),
    await client.submitMany(chargePayment, payments(draw, counts.payments), optionsFor('payment')),
    await client.submitMany(syncStock, stock(draw, counts.stock), optionsFor('stock')),
    await client.submitMany(buildReport, reports(draw, counts.reports), optionsFor('report')),
    await client.submitMany(importContact, contacts(draw, counts.contacts), optionsFor('contact')),
  ]
  return submitted.flat().filter(({ accepted }) => accepted).length
}

function emails(draw: Draw, count: number) {
  const faults = draw.faults(count, [{ share: 0.08, faultyAttempts: 1 }])
  return faults.map((fault, index) => ({ ...draw.work(fault), to: `reader-${index + 1}@example.com` }))
}

function payments(draw: Draw, count: number) {
  const faults = draw.faults(count, [
    { share: 0.1, faultyAttempts: 1 },
    { share: 0.04, faultyAttempts: 2 },
    { share: 0.015, faultyAttempts: ALWAYS },
  ])
  return faults.map((fault) => ({ ...draw.work(fault), cents: draw.between(500, 90_000) }))
}

function stock(draw: Draw, count: number) {
  const faults = draw.faults(count, [{ share: 0.1, faultyAttempts: 1 }])
  return faults.map((fault, index) => ({ ...draw.work(fault), warehouse: `W${(index % 7) + 1}` }))
}

function reports(draw: Draw, count: number) {
  const faults = draw.faults(count, [{ share: 0.12, faultyAttempts: 1 }])
  return faults.map((fault, index) => ({
    ...draw.work(fault),
    month: `2031-${String((index % 12) + 1).padStart(2, '0')}`,
  }))
}

function contacts(draw: Draw, count: number) {
  const faults = draw.faults(count, [
    { share: 0.08, faultyAttempts: 1 },
    { share: 0.04, faultyAttempts: 2 },
  ])
  return faults.map((fault, index) => ({
    workMs: draw.work(fault).workMs,
    email: fault === 1 ? `person-${index + 1}` : `person-${index + 1}@example.com`,
    book: fault === 2 ? 'archive' : 'customers',
  }))
}

/** One that crashes its worker every time, and two that do it once; late, so that few others are hit again with them. */
function videos(draw: Draw, count: number) {
  const faults = [ALWAYS, 1, 1, ...Array.from({ length: count }, () => 0)].slice(0, Math.max(count, 3))
  return faults.map((faultyAttempts, index) => ({
    workMs: faultyAttempts > 0 ? 400 : draw.work(0).workMs,
    faultyAttempts,
    title: `Holiday ${index + 1}`,
  }))
}

function split(taskCount: number) {
  const of = (share: number): number => Math.max(Math.round(taskCount * share), 1)
  const counts = {
    payments: of(SHARES.payments),
    stock: of(SHARES.stock),
    reports: of(SHARES.reports),
    contacts: of(SHARES.contacts),
    videos: Math.max(of(SHARES.videos), 3),
  }
  const others = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { ...counts, emails: taskCount - others }
}

interface FaultShare {
  readonly share: number
  readonly faultyAttempts: number
}

/** Everything that is drawn by lot. */
class Draw {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random.next() * (most - least + 1))
  }

  work(faultyAttempts: number): Rehearsal {
    return { workMs: this.between(50, 180), faultyAttempts }
  }

  /** For each of `count` tasks how many of its attempts fail: at least one task per kind of fault, spread at random. */
  faults(count: number, shares: readonly FaultShare[]): number[] {
    const faulty = shares.flatMap(({ share, faultyAttempts }) =>
      Array.from({ length: Math.max(Math.round(count * share), 1) }, () => faultyAttempts),
    )
    const well = Array.from({ length: Math.max(count - faulty.length, 0) }, () => 0)
    return this.#shuffled([...faulty, ...well].slice(0, count))
  }

  /** Some wait for a while, some are in a hurry, some are not. */
  options(id: string): SubmitOptions {
    const roll = this.#random.next()
    return {
      id,
      tenant: TENANTS[this.between(0, TENANTS.length - 1)] ?? TENANTS[0],
      labels: { from: 'demo' },
      ...(roll < 0.1 ? { delay: this.between(500, 4_000) } : {}),
      ...(roll > 0.9 ? { priority: 9 } : roll > 0.8 ? { priority: 1 } : {}),
    }
  }

  #shuffled(list: readonly number[]): number[] {
    return list
      .map((value) => ({ value, place: this.#random.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ value }) => value)
  }
}

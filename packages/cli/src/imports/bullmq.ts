// Reads the jobs of a BullMQ queue from its Redis. It only reads: a queue can be looked at while its workers go on. Jobs that move on
// meanwhile may be missed or seen in their old place; a second import finds what is new.

import { createClient } from 'redis'
import { type JobHash, type JobPlace, type JobState, type JobTerms, taskOfJob } from './bullmq-job.ts'
import type { Incoming } from './send.ts'

export interface BullmqQueue {
  /** How many jobs there are in these states. */
  count(states: readonly JobState[]): Promise<number>
  /** All of them, as tasks on their way in. */
  tasks(states: readonly JobState[], terms: JobTerms): AsyncGenerator<Incoming>
  close(): void
}

export interface BullmqAddress {
  readonly url: string
  readonly queue: string
  readonly prefix: string
}

const PAGE = 500
/** BullMQ multiplies the time by this, and counts in the rest. */
const DELAY_SCALE = 4_096
const CONNECT_MS = 10_000

/** Null if Redis has no such queue. */
export async function openBullmq({ url, queue, prefix }: BullmqAddress): Promise<BullmqQueue | null> {
  const redis = createClient({ url, socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false } })
  // Without a listener an error of the connection would end the process; the command that meets it says so.
  redis.on('error', () => undefined)
  await redis.connect()
  const keyOf = (part: string): string => `${prefix}:${queue}:${part}`

  const lists: Readonly<Record<JobState, readonly string[]>> = {
    failed: ['failed'],
    waiting: ['wait', 'paused', 'prioritized'],
    delayed: ['delayed'],
  }

  async function* places(state: JobState): AsyncGenerator<readonly JobPlace[]> {
    for (const part of lists[state]) {
      const key = keyOf(part)
      const isList = part === 'wait' || part === 'paused'
      for await (const page of isList ? listPages(key) : sortedPages(key)) {
        yield page.map(({ id, score }) => ({
          queue,
          id,
          state,
          dueAt: state === 'delayed' && score !== null ? Math.floor(score / DELAY_SCALE) : null,
        }))
      }
    }
  }

  async function* listPages(key: string): AsyncGenerator<readonly Member[]> {
    for (let from = 0; ; from += PAGE) {
      const ids = await redis.lRange(key, from, from + PAGE - 1)
      // BullMQ puts a mark of its own among the ids.
      yield ids.filter((id) => !id.startsWith('0:')).map((id) => ({ id, score: null }))
      if (ids.length < PAGE) return
    }
  }

  /** By score, and within one score by how many were seen of it: what is removed meanwhile moves little. */
  async function* sortedPages(key: string): AsyncGenerator<readonly Member[]> {
    let from = Number.NEGATIVE_INFINITY
    let seen = 0
    for (;;) {
      const page = await redis.zRangeWithScores(key, from === Number.NEGATIVE_INFINITY ? '-inf' : from, '+inf', {
        BY: 'SCORE',
        LIMIT: { offset: seen, count: PAGE },
      })
      yield page.map(({ value, score }) => ({ id: value, score }))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      const tied = page.filter(({ score }) => score === last.score).length
      seen = last.score === from ? seen + tied : tied
      from = last.score
    }
  }

  if ((await redis.exists([keyOf('meta'), keyOf('id'), keyOf('failed')])) === 0) {
    redis.destroy()
    return null
  }
  return {
    async count(states) {
      let count = 0
      for (const part of states.flatMap((state) => lists[state])) {
        count += part === 'wait' || part === 'paused' ? await redis.lLen(keyOf(part)) : await redis.zCard(keyOf(part))
      }
      return count
    },
    async *tasks(states, terms) {
      for (const state of states) {
        for await (const page of places(state)) {
          const hashes = await Promise.all(page.map(({ id }) => redis.hGetAll(keyOf(id))))
          for (const [at, place] of page.entries()) yield incomingOf(place, hashes[at] ?? {}, terms)
        }
      }
    },
    close: () => redis.destroy(),
  }
}

interface Member {
  readonly id: string
  readonly score: number | null
}

function incomingOf(place: JobPlace, hash: JobHash, terms: JobTerms): Incoming {
  const shown = `job ${place.id}`
  if (Object.keys(hash).length === 0) return { place: shown, problem: 'It is gone: only its id is left.' }
  const task = taskOfJob(place, hash, terms)
  return { place: shown, task, bytes: Buffer.byteLength(JSON.stringify(task)) }
}

// What the tests of runbooks share: a store with a runner as an orchestrator has it, and what recovers meanwhile.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  DEFAULT_SETTINGS,
  type Engine,
  type JsonText,
  present,
  seededRandom,
  succeeded,
  type TaskSpec,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { createRedrives, Runner, type RunPoint } from '@reprise/orchestrator'
import { onTestFinished } from 'vitest'
import { localCaller } from '../src/access/caller.ts'
import { createRunbookHands } from '../src/runbooks/hands.ts'
import { type STORES, spec } from './events/fixture.ts'
import { ANN, storeWithCaller } from './store-with-caller.ts'

const BOB = localCaller('operator:bob')
export interface Run {
  readonly id: string
  readonly state: string
  readonly question: { readonly kind: string; readonly text: string } | null
  readonly steps: readonly { name: string; state: string; output: unknown; error: string | null; tries: number }[]
}

export async function opened(kind: (typeof STORES)[number] = 'sqlite', scripts?: string) {
  const clock = new VirtualClock(1_900_000_000_000)
  const { engine, context, call } = await storeWithCaller(kind, clock, { clock })
  const hands = createRunbookHands({ context, allow: ['127.0.0.0/8'], ...present({ scripts }) })
  const runner = (at?: (point: RunPoint, step: string) => void) =>
    new Runner(
      { engine, hands, leaseMs: 10_000, ...present({ at }) },
      { clock, onError: (error) => errors.push(error) },
    )
  const errors: unknown[] = []
  const one = runner()
  const { signal } = new AbortController()
  const shown = (id: string): Promise<Run> => call(ANN, 'getRunbookRun', { id })
  /** Moves a run until it is at rest; what it waits for happens meanwhile. */
  const moved = async (id: string, meanwhile: () => Promise<unknown> = async () => undefined): Promise<Run> => {
    for (let round = 0; round < 200; round++) {
      await one.round(signal)
      const run = await shown(id)
      if (run.state !== 'running' && run.state !== 'aborting') return run
      await meanwhile()
      await clock.advance(1_000)
    }
    throw new Error('It does not come to rest.')
  }
  const start = (name: string, inputs: object, more: object = {}): Promise<Run> =>
    call(ANN, 'startRunbook', { name, inputs, reason: 'drill', ...more })
  const answer = (id: string, text: string, who = BOB): Promise<Run> =>
    call(who, 'answerRunbookRun', { id, answer: text })
  return { engine, clock, call, hands, runner, moved, start, answer, shown, errors, signal }
}

/** Redrives are moved by their own service; a worker does what is queued. */
export async function recovering(engine: Engine, clock: VirtualClock): Promise<() => Promise<void>> {
  const service = createRedrives({ engine, clock, random: seededRandom(1) })
  await service.start()
  onTestFinished(() => service.stop())
  const worker = workerId('mended')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  return async () => {
    for (let trip = 0; trip < 30; trip++) await engine.now()
    const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 100, leaseMs: 60_000 })
    await engine.settle(claimed.map((one) => succeeded(one, null)))
    await engine.beat({
      worker,
      epoch,
      inFlight: 0,
      queueDepth: 0,
      loopLagMs: 0,
      memoryBytes: 0,
      maxQuietMs: 0,
      outlook: null,
      draining: false,
    })
  }
}

export async function fingerprintOf(engine: Engine): Promise<string> {
  return (await engine.failureGroups({ limit: 1 })).items[0]?.fingerprint ?? ''
}

export const dead = (count: number): TaskSpec[] =>
  Array.from({ length: count }, (_, at) =>
    spec(`t${at}`, {
      payload: JSON.stringify({ at }) as JsonText,
      // Dead at its first failure, whatever that is.
      settings: { ...DEFAULT_SETTINGS, maxRetries: 0 },
    }),
  )
export const statesOf = ({ steps }: Run) => steps.map(({ state }) => state)

/** Hears what is posted. */
export async function receiver(heard: (body: string, key: string | undefined) => void): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      heard(body, request.headers['idempotency-key']?.toString())
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications/retry-alert`
}

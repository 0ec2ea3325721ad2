// Random requests over every line of the route table, as callers with no rights, with few and with many. Each run has a seed, and
// the same seed sends the same requests.

import fc from 'fast-check'
import { type AttackCase, refused, succeeded } from '../case.ts'
import { submitted } from '../cases/tasks.ts'
import type { Api } from '../stage/api.ts'
import type { Scene } from '../stage/scene.ts'
import { wrongWith } from './answer-rules.ts'
import { type DrawnRequest, drawnRequest } from './drawn-request.ts'
import { settledVictim } from './victim.ts'

const CALLERS = ['stranger', 'viewer', 'operator', 'admin'] as const
type CallerKind = (typeof CALLERS)[number]

const REQUEST_MS = 20_000

export const randomRequests = (seed: number): readonly AttackCase[] =>
  CALLERS.map((kind) => ({
    name: `random-requests-as-${kind}`,
    tries: `A ${kind} of one tenant sends random requests to every route (seed ${seed}).`,
    run: (scene) => sentAtRandom(scene, kind, seed),
  }))

async function sentAtRandom(scene: Scene, kind: CallerKind, seed: number) {
  const { a, anyone, amount } = scene
  // Not made of anything that requests are made of.
  const canary = `canary${(seed >>> 0).toString(36)}qzx`
  const victim = await settledVictim(scene, canary)
  const caller = kind === 'stranger' ? anyone : await a.as(kind)
  const own = await submitted(await a.as(['submit']), { id: `a-own-${a.tenant}`, action: 'a.waits', pool: 'a-pool' })
  const names = [...victim.names, own, a.tenant, 'a.waits', 'a-pool', 'shared.work', 'dlq-inspector', '1', 'latest']
  const before = await victim.picture()
  let sent = 0
  const property = fc.asyncProperty(drawnRequest(names), async (drawn) => {
    sent++
    const wrong = await answered(caller, drawn, canary)
    if (wrong !== null) throw new Error(`${wrong}: ${written(drawn)}`)
  })
  const numRuns = amount(2_000, 150)
  const details = await fc.check(property, { seed, numRuns, endOnFailure: true })
  if (details.failed) {
    const why = details.errorInstance instanceof Error ? details.errorInstance.message : 'a request failed'
    return succeeded(`seed ${seed}, request ${sent}: ${why}`)
  }
  const after = await victim.picture()
  if (before !== after) return succeeded(`seed ${seed}: ${difference(before, after)}`)
  return refused(`${sent} requests, seed ${seed}`)
}

async function answered(caller: Api, drawn: DrawnRequest, canary: string): Promise<string | null> {
  const { method, path, headers, body } = drawn
  const answer = await caller.send(method, path, {
    headers,
    timeoutMs: REQUEST_MS,
    ...(body === null ? {} : { raw: body }),
  })
  return wrongWith(drawn, answer, canary)
}

const written = ({ method, path, headers, body }: DrawnRequest): string =>
  `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 200)} ${body?.slice(0, 500) ?? ''}`

/** The first line of the picture that is another one now. */
function difference(before: string, after: string): string {
  const [was, is] = [before.split('\n'), after.split('\n')]
  const at = was.findIndex((line, index) => line !== is[index])
  return `the victim had '${was[at]?.slice(0, 200)}', and has '${is[at]?.slice(0, 200)}'`
}

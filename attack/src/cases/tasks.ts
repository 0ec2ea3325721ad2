// Tasks as cases submit and follow them, over the same API as everybody.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../stage/api.ts'

export interface SeenTask {
  readonly id: string
  readonly state: {
    readonly status: string
    readonly dueAt?: number
    readonly quota?: string | null
    readonly since?: number
    /** When it ended. */
    readonly at?: number
  }
  readonly failures: number
}

export interface SeenGate {
  readonly kind: string
  readonly [field: string]: unknown
}

const TRIES_MAX = 30

/** Submits a task and gives its id; throws if it is not taken. One that comes too soon is sent again. */
export async function submitted(api: Api, submission: Readonly<Record<string, unknown>>): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { status, body, text } = await api.post<{ readonly id: string }>('/api/v1/tasks', submission)
    if (status === 201 || status === 200) return body.id
    if (status !== 429 || tries === TRIES_MAX) throw new Error(`A task was not taken: ${status} ${text.slice(0, 300)}`)
    await sleep(TOO_SOON_MS)
  }
}

const TOO_SOON_MS = 200

export async function taskOf(api: Api, id: string, wait = '0s'): Promise<SeenTask> {
  for (let tries = 1; ; tries++) {
    const { status, body, text } = await api.get<SeenTask>(`/api/v1/tasks/${encodeURIComponent(id)}?wait=${wait}`)
    if (status === 200) return body
    if (status !== 429 || tries === TRIES_MAX) throw new Error(`A task can't be seen: ${status} ${text.slice(0, 300)}`)
    await sleep(TOO_SOON_MS)
  }
}

/** As it is once it has ended, or after a while. */
export async function endedTask(
  api: Api,
  submission: Readonly<Record<string, unknown>>,
  wait = '20s',
): Promise<SeenTask> {
  return taskOf(api, await submitted(api, submission), wait)
}

export async function gatesOf(api: Api, id: string): Promise<readonly SeenGate[]> {
  const { body } = await api.get<{ readonly gates?: readonly SeenGate[] }>(
    `/api/v1/tasks/${encodeURIComponent(id)}/explain`,
  )
  return body.gates ?? []
}

interface Counts {
  readonly queued: number
  readonly waiting: number
  readonly running: number
  readonly dead: number
  readonly succeeded: number
}

export async function countsOf(api: Api, tenant: string): Promise<Counts> {
  const { body } = await api.get<Counts>(`/api/v1/counts?tenant=${tenant}`)
  return body
}

const LOOKS_MAX = 400
const LOOK_EVERY_MS = 50

/** Looks again and again until it is so, for twenty seconds at most. Whether it came to be so. */
export async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    if (await isSo()) return true
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

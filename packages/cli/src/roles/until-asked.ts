// Waits until somebody asks the process to end. What is done then is the role's own business.

import { sleep } from '@reprise/core'
import type { Host } from '../host.ts'

const PRESENCE_MS = 60_000

/** Keeps the process alive meanwhile: timers of services do not. */
export async function untilAsked({ asked, clock }: Pick<Host, 'asked' | 'clock'>): Promise<void> {
  while (!asked.aborted) await sleep(clock, PRESENCE_MS, asked, { hold: true })
}

// What a server adds to events: live streams out, and failures that are reported from elsewhere in.

import type { Context } from '@reprise/operations'
import type { TenantIntake } from '../tenants/intake.ts'
import { FailuresIn } from './failures-in.ts'
import { LiveStreams } from './live-stream.ts'

export interface Events {
  readonly streams: LiveStreams
  readonly failuresIn: FailuresIn
}

export function createEvents(
  { engine, policies, catalogue, flags, clock, random, events, room }: Context,
  onError: (error: unknown) => void,
  intake?: Pick<TenantIntake, 'check' | 'takeNote'>,
): Events {
  const isOn = (): boolean => flags.current()['audit-streaming']
  return {
    streams: new LiveStreams({ ...events, isOn, clock, onError }),
    failuresIn: new FailuresIn({
      engine,
      policies,
      clock,
      random,
      room,
      actionOf: (name) => catalogue.find(name),
      ...(intake === undefined
        ? {}
        : { admit: (by, spec) => intake.check(by, spec), admitNote: (by, tenant) => intake.takeNote(by, tenant) }),
    }),
  }
}

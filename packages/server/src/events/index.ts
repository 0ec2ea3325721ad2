// What a server adds to events: live streams out, and failures that are reported from elsewhere in.

import type { Context } from '@reprise/operations'
import { FailuresIn } from './failures-in.ts'
import { LiveStreams } from './live-stream.ts'

export interface Events {
  readonly streams: LiveStreams
  readonly failuresIn: FailuresIn
}

export function createEvents(
  { engine, policies, catalogue, flags, clock, random, events }: Context,
  onError: (error: unknown) => void,
): Events {
  const isOn = (): boolean => flags.current()['audit-streaming']
  return {
    streams: new LiveStreams({ ...events, isOn, clock, onError }),
    failuresIn: new FailuresIn({ engine, policies, clock, random, actionOf: (name) => catalogue.find(name) }),
  }
}

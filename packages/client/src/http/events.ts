// Events over HTTP, followed live. The stream is opened again whenever it breaks, from the last place that the server named, so that nothing is missed; what came just before a break may come again.

import { type Backoff, backoffMs, isRepriseError, RequestError, sleep, type Transport } from '@reprise/core'
import type { LiveEvent, WatchRequest } from '../backend.ts'
import { parsedObject } from './answers.ts'
import { sentEvents } from './server-sent-events.ts'
import { textLines } from './text-lines.ts'

/** A server sends a sign of life every 15 s. */
const IDLE_MS = 45_000
const RECONNECT: Backoff = { kind: 'decorrelated', baseMs: 500, maxMs: 10_000 }
const END = 'reprise.stream.end'
/** A server that has just been started again may not know its new tokens yet, and its clients not the server's. */
const REFUSALS_MAX = 20

/**
 * Throws only if the stream can't be opened at first, or is refused. Where tokens are renewed, a stream that was open may be
 * refused some times in a row. Goes on until the signal fires.
 */
export async function* watchEvents(transport: Transport, request: WatchRequest): AsyncGenerator<LiveEvent> {
  const { clock, random, closed } = transport
  const stop = request.signal === null ? closed : AbortSignal.any([closed, request.signal])
  const place = { cursor: request.cursor, isOpen: false }
  let failuresInRow = 0
  let refusalsInRow = 0
  while (!stop.aborted) {
    try {
      for await (const event of streamOf(transport, request, place, stop)) {
        failuresInRow = 0
        refusalsInRow = 0
        yield event
        if (stop.aborted) return
      }
    } catch (error) {
      if (stop.aborted) return
      const mayPass = isPassing(error) || (isRefused(error) && transport.renewsToken && ++refusalsInRow <= REFUSALS_MAX)
      if (!place.isOpen || !mayPass) throw error
    }
    request.onConnection?.(false)
    await sleep(clock, backoffMs(RECONNECT, failuresInRow++, random.next()), stop, { hold: true })
  }
}

/** One connection, until it ends. */
async function* streamOf(
  transport: Transport,
  { taskId, types, onConnection }: WatchRequest,
  place: { cursor: string | null; isOpen: boolean },
  signal: AbortSignal,
): AsyncGenerator<LiveEvent> {
  const { clock, serverName } = transport
  const stream = await transport.open({
    method: 'GET',
    path: '/api/v1/events/stream',
    query: { task: taskId ?? undefined, type: types.length === 0 ? undefined : types.join(',') },
    headers: {
      accept: 'text/event-stream',
      ...(place.cursor === null ? {} : { 'last-event-id': place.cursor }),
    },
    isRepeatable: true,
    signal,
  })
  place.isOpen = true
  onConnection?.(true)
  for await (const { id, event, data } of sentEvents(textLines(stream, { clock, serverName, idleMs: IDLE_MS }))) {
    if (id !== null) place.cursor = id
    if (data === null) continue
    if (event === END) return refuseForGood(parsedObject<EndWire>(data, serverName))
    yield { ...parsedObject<Omit<LiveEvent, 'cursor'>>(data, serverName), cursor: place.cursor ?? '' }
  }
}

interface EndWire {
  readonly because?: unknown
  readonly words?: unknown
}

/** Some ends are not worth coming back after. */
function refuseForGood({ because, words }: EndWire): void {
  const message = typeof words === 'string' ? words : 'The server ended the stream.'
  if (because === 'feature_off') throw new RequestError('REPRISE_FEATURE_OFF', message)
  if (because === 'not_allowed') throw new RequestError('REPRISE_FORBIDDEN', message)
}

/** Anything but a refusal: a connection that breaks, a server that starts again. */
const isPassing = (error: unknown): boolean => !isRepriseError(error) || error.status >= 500 || error.status === 429

const isRefused = (error: unknown): boolean =>
  isRepriseError(error, 'REPRISE_UNAUTHENTICATED') || isRepriseError(error, 'REPRISE_FORBIDDEN')

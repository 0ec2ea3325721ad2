// Reading CloudEvents from a request: one in structured mode, several as a batch, or one in binary mode with its attributes in
// headers. Only the envelope is checked here; what an event means is its reader's business.

import { InvalidError, RequestError } from '@reprise/core'

export interface CloudEvent {
  readonly id: string
  readonly source: string
  readonly type: string
  readonly data: unknown
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const EVENTS_PER_REQUEST_MAX = 100
const ATTRIBUTE_LENGTH_MAX = 500

/** `body` is the parsed JSON of the request. */
export function readCloudEvents(headers: Headers, body: unknown): readonly CloudEvent[] {
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase()
  if (type === 'application/cloudevents+json') return [envelope(body, 'The event')]
  if (type === 'application/cloudevents-batch+json') return batch(body)
  if (type === 'application/json')
    return [headers['ce-specversion'] === undefined ? envelope(body, 'The event') : binary(headers, body)]
  throw new RequestError(
    'REPRISE_UNSUPPORTED_MEDIA',
    'Events are taken as application/cloudevents+json, application/cloudevents-batch+json, or application/json with ce- headers.',
  )
}

function batch(body: unknown): readonly CloudEvent[] {
  if (!Array.isArray(body)) throw new InvalidError('A batch of events is a JSON array.')
  if (body.length > EVENTS_PER_REQUEST_MAX) {
    throw new InvalidError(`A batch has at most ${EVENTS_PER_REQUEST_MAX} events, not ${body.length}. Send several.`)
  }
  return body.map((event: unknown, index) => envelope(event, `Event ${index + 1} of the batch`))
}

function envelope(value: unknown, which: string): CloudEvent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidError(`${which} is no CloudEvent: it must be a JSON object.`)
  }
  const { specversion, id, source, type, data } = value as Readonly<Record<string, unknown>>
  return checked({ specversion, id, source, type }, data, which)
}

function binary(headers: Headers, data: unknown): CloudEvent {
  // Attributes in headers are percent-encoded where they are not plain ASCII.
  const attribute = (name: string): string | undefined => {
    const value = headers[`ce-${name}`]
    if (typeof value !== 'string') return undefined
    try {
      return decodeURIComponent(value)
    } catch {
      return value
    }
  }
  const [specversion, id, source, type] = ['specversion', 'id', 'source', 'type'].map(attribute)
  return checked({ specversion, id, source, type }, data, 'The event')
}

function checked(
  { specversion, id, source, type }: Readonly<Record<'specversion' | 'id' | 'source' | 'type', unknown>>,
  data: unknown,
  which: string,
): CloudEvent {
  if (specversion !== '1.0') throw new InvalidError(`${which} is no CloudEvent of specversion 1.0.`)
  return { id: text(id, 'id', which), source: text(source, 'source', which), type: text(type, 'type', which), data }
}

function text(value: unknown, name: string, which: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= ATTRIBUTE_LENGTH_MAX && value.isWellFormed())
    return value
  throw new InvalidError(`${which} needs a '${name}': a text of at most ${ATTRIBUTE_LENGTH_MAX} characters.`)
}

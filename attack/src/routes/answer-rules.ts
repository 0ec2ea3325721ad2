// What must hold of every answer, whoever asks for whatever: no fault of the server, no word of another tenant, and errors that
// are problem details and tell nothing about the inside.

import type { Answer } from '../stage/api.ts'
import type { DrawnRequest } from './drawn-request.ts'

/** Paths of a disk, traces of a stack, addresses of a network that callers have no part in. */
const INSIDE =
  /node_modules|\bat [\w.<>]+ \(|\.(?:ts|js|mjs):\d+|file:\/\/|\/(?:home|usr|srv|tmp|opt|root|var|work)\/|\b127\.0\.0\.1\b|SQLITE_|ERR_REDIS|ReplyError|user_script/

/** Null if it is as it must be; otherwise what is wrong with it. */
export function wrongWith({ route, method }: DrawnRequest, answer: Answer, canary: string): string | null {
  const { status, text, headers } = answer
  if (status === 0) return 'there is no answer'
  if (text.includes(canary)) return 'it tells something of the victim'
  if (status >= 500 && !isDeclared(route, status)) return `it is an undeclared ${status}`
  if (status < 400 || method === 'HEAD' || text === '') return null
  if (status === 503 && route.answers[503] !== undefined) return null
  if (headers['content-type']?.startsWith('application/problem+json') !== true)
    return `an error comes as ${headers['content-type']}`
  const inside = INSIDE.exec(text)
  return inside === null ? null : `an error tells '${inside[0]}'`
}

const isDeclared = ({ answers, problems = [] }: DrawnRequest['route'], status: number): boolean =>
  answers[status] !== undefined || problems.includes(status)

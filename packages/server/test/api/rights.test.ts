// Who may do what: every line of the route table, tried as nobody and with the token of each role. A route that forgets its
// check, or a role that gains a right by accident, fails here.

import { type Access, ROLES, ROUTES, type Role, type Route } from '@reprise/operations'
import { describe, expect, test } from 'vitest'
import { type Api, SQLITE, startApi } from './fixture.ts'

const LINES = Object.entries(ROUTES) as readonly (readonly [string, Route])[]
const STREAMS = new Set(['streamEvents'])

/** A path that fits, for things that don't exist. */
const pathOf = ({ path }: Route): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'attempt' || name === 'number' ? '1' : 'nothing-like-it',
  )

/** May be refused for its input, since none is sent, or find nothing; but not for who asks. */
const passes = (status: number): boolean => status !== 401 && status !== 403

async function statusOf(api: Api, route: Route, token: string | null): Promise<number> {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const answered = await api.send(route.method, pathOf(route), {
    token,
    ...(hasBody ? { raw: '{}', headers: { 'content-type': route.consumes ?? 'application/json' } } : {}),
  })
  return answered.status
}

function isAllowed(role: Role, access: Access): boolean {
  if (access === 'known') return true
  return (ROLES[role] as readonly string[]).includes(access)
}

describe('rights', () => {
  test('A12, A13: a route that is not public answers nobody', async () => {
    const api = await startApi(SQLITE)
    for (const [operation, route] of LINES) {
      if (route.access === 'public') continue
      expect([operation, await statusOf(api, route, null)]).toEqual([operation, 401])
    }
    const closed = LINES.find(([, { access }]) => access === 'tokens')?.[1]
    if (closed === undefined) throw new Error('No route asks for tokens.')
    expect(await statusOf(api, closed, 'rpr_0123456789abcdef_wrong')).toBe(401)
  })

  test.each(Object.keys(ROLES) as readonly Role[])('A12: a %s may do exactly what the table says', async (role) => {
    const api = await startApi(SQLITE)
    for (const [operation, route] of LINES) {
      if (STREAMS.has(operation) && isAllowed(role, route.access)) continue
      // Whoever asks there is not looked at, or is known by something else than a token.
      if (route.access === 'public') continue
      const status = await statusOf(api, route, api.tokens[role])
      expect([operation, passes(status)]).toEqual([operation, isAllowed(role, route.access)])
      expect([operation, status]).not.toEqual([operation, 500])
    }
  })

  test('intruder 3: a change by GET is 405, for every path that only changes', async () => {
    const api = await startApi(SQLITE)
    const readable = new Set(LINES.filter(([, { method }]) => method === 'GET').map(([, { path }]) => path))
    const changing = LINES.filter(([, { method, path }]) => method !== 'GET' && !readable.has(path))
    expect(changing.length).toBeGreaterThan(10)
    for (const [operation, route] of changing) {
      const answered = await api.get(pathOf(route))
      expect([operation, answered.status]).toEqual([operation, 405])
      expect(answered.headers.get('allow')).toContain(route.method)
    }
  })
})

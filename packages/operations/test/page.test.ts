// docs/http-api.md lists every route with the scope that it needs: this keeps the page true.

import { readFileSync } from 'node:fs'
import { type Access, ROUTES, type Route } from '@reprise/operations'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../../docs/http-api.md', import.meta.url), 'utf8')

/** What the handler itself asks for, on a route that is open to those near. */
const METRICS = '`read`; on the same host no sign-in'

const words = (access: Access): string =>
  access === 'public' ? 'no sign-in' : access === 'known' ? 'any caller' : `\`${access}\``

test('the page lists all routes, with what they are for and need, and no others', () => {
  const listed = page.split('\n').filter((line) => /^\| `[A-Z]+ \//.test(line))
  const lines = (Object.values(ROUTES) as readonly Route[]).map(
    ({ method, path, summary, access }) =>
      `| \`${method} ${path}\` | ${summary} | ${path === '/metrics' ? METRICS : words(access)} |`,
  )
  expect(listed.toSorted()).toEqual(lines.toSorted())
})

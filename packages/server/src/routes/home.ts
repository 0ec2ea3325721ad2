// The page at `/`: where a browser ends up after signing in. It says what this is and where to go on, until the console is there.

import type { homeRoutes } from '@reprise/operations'
import { type Handlers, text } from '../http/handler.ts'

const page = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Reprise</title>
<h1>Reprise ${version}</h1>
<p>This server runs background tasks to their end, whatever fails on the way.</p>
<ul>
<li><a href="/api/v1/me">Who you are and what you may do</a></li>
<li><a href="/api/v1/tasks">Tasks</a>, <a href="/api/v1/tasks?q=status:dead">dead letters</a>, <a href="/api/v1/workers">workers</a>, <a href="/api/v1/lanes">lanes</a></li>
<li><a href="/api/v1/openapi.json">The API</a> (OpenAPI 3.1)</li>
</ul>
<p>From a terminal: <code>npx reprise status</code>.</p>
</html>
`

export function homeHandlers(version: string): Handlers<typeof homeRoutes> {
  const html = page(version)
  return { home: () => text(200, html, 'text/html; charset=utf-8') }
}

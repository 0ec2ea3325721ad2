// The page at `/`: the console. Where that is not there, a page that says so, and where else to look.

import type { homeRoutes } from '@reprise/operations'
import type { ConsoleFiles } from '../console/console-files.ts'
import { type Handlers, text } from '../http/handler.ts'

const withoutConsole = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Reprise</title>
<h1>Reprise ${version}</h1>
<p>This server runs background tasks to their end, whatever fails on the way.</p>
<p>The console is not installed here: add the package <code>@reprise/console</code>, or build it in a clone with
<code>npm run console:build</code>, and start the server again.</p>
<ul>
<li><a href="/api/v1/me">Who you are and what you may do</a></li>
<li><a href="/api/v1/tasks">Tasks</a>, <a href="/api/v1/tasks?q=status:dead">dead letters</a>, <a href="/api/v1/workers">workers</a>, <a href="/api/v1/lanes">lanes</a></li>
<li><a href="/api/v1/openapi.json">The API</a> (OpenAPI 3.1)</li>
</ul>
<p>From a terminal: <code>npx reprise status</code>.</p>
</html>
`

export function homeHandlers(version: string, console: ConsoleFiles | null): Handlers<typeof homeRoutes> {
  const { html, headers } = console?.page ?? { html: withoutConsole(version), headers: {} }
  return { home: () => text(200, html, 'text/html; charset=utf-8', headers) }
}

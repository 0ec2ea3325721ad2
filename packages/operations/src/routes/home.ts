// The one page for people: the console.

import { routeTable } from '../route.ts'

export const homeRoutes = routeTable({
  home: {
    method: 'GET',
    path: '/',
    summary: 'The console',
    tag: 'service',
    access: 'public',
    answers: { 200: { kind: 'html', description: 'The page.' } },
  },
})

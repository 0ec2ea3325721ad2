// The one page for people, until there is a console.

import { routeTable } from '../route.ts'

export const homeRoutes = routeTable({
  home: {
    method: 'GET',
    path: '/',
    summary: 'A page that says where to go on',
    tag: 'service',
    access: 'public',
    answers: { 200: { kind: 'html', description: 'The page.' } },
  },
})

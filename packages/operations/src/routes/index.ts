// Every line of the HTTP API by its name: all operations, and the routes that are none.

import { routeOf } from '../operation.ts'
import type { Route } from '../route.ts'
import { ALL_OPERATIONS, type OperationName } from '../table.ts'
import { accessRoutes } from './access.ts'
import { eventRoutes } from './events.ts'
import { homeRoutes } from './home.ts'
import { serviceRoutes } from './service.ts'
import { taskRoutes } from './tasks.ts'
import { workRoutes } from './work.ts'

/** What is not an operation: the hot path, streams, sign-in, the server itself, and addresses that other systems prescribe. */
export const HANDLED_ROUTES = {
  ...homeRoutes,
  ...serviceRoutes,
  ...taskRoutes,
  ...workRoutes,
  ...eventRoutes,
  ...accessRoutes,
} as const

const operationRoutes = Object.fromEntries(
  Object.entries(ALL_OPERATIONS).map(([name, entry]) => [name, routeOf(entry)]),
) as Record<OperationName, Route>

export const ROUTES: Readonly<Record<string, Route>> = { ...HANDLED_ROUTES, ...operationRoutes }

export { accessRoutes, eventRoutes, homeRoutes, serviceRoutes, taskRoutes, workRoutes }

// The whole table: every line of the API, by its operation.

import { accessRoutes } from './access.ts'
import { eventRoutes } from './events.ts'
import { homeRoutes } from './home.ts'
import { operationRoutes } from './operations.ts'
import { serviceRoutes } from './service.ts'
import { taskRoutes } from './tasks.ts'
import { workRoutes } from './work.ts'

export const ROUTES = {
  ...homeRoutes,
  ...serviceRoutes,
  ...taskRoutes,
  ...operationRoutes,
  ...workRoutes,
  ...eventRoutes,
  ...accessRoutes,
} as const

export type Operation = keyof typeof ROUTES

export { accessRoutes, eventRoutes, homeRoutes, operationRoutes, serviceRoutes, taskRoutes, workRoutes }

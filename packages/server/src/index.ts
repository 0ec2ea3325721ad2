/**
 * The HTTP API: sign-in, tasks, workers, live events, webhooks. It serves from an engine that is open already, and makes no
 * decision about tasks itself.
 */

export type {
  AccessOptions,
  GoogleOptions,
  IssuerOptions,
  RoleRule,
  SignInOptions,
} from './access/index.ts'
export type { RateLimitOptions } from './http/rate-limit.ts'
export {
  createServer,
  DEFAULT_BODY_BYTES_MAX,
  DEFAULT_HOST,
  DEFAULT_PORT,
  DEFAULT_RATE_LIMIT,
  type Server,
  type ServerOptions,
} from './server.ts'

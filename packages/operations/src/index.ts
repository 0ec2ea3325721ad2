/**
 * Everything that can be asked for beyond the hot path, as one table: each operation has a name, its input and output, the
 * right it needs, and one function. The HTTP API is read off it. It starts no server and makes no request.
 */

export { ApiTokens, TOKEN_PREFIX } from './access/api-tokens.ts'
export {
  authorise,
  byOf,
  type Caller,
  localCaller,
  mayTouch,
  ownerOf,
  tenantScope,
  wholeStore,
} from './access/caller.ts'
export { actorOf, type Identity, personOf } from './access/identity.ts'
export { ownTask } from './access/own-tasks.ts'
export { Recent } from './access/recent.ts'
export { type Access, ROLE_NAMES, ROLES, type Role, SCOPES, type Scope } from './access/scopes.ts'
export { Seals } from './access/seals.ts'
export { digestOf, isSecret } from './access/secrets.ts'
export { SESSIONS_PER_PERSON_MAX, Sessions, type SessionTimes } from './access/sessions.ts'
export type { CallOptions, OperationInput, OperationOutput, Operations } from './caller-types.ts'
export { type Context, type ContextOptions, createContext, type EventsOut, refuseUnlessOn } from './context.ts'
export type { EntryTenants, MakeEvent } from './events/event.ts'
export type { EventFeed, FeedPage } from './events/feed.ts'
export { typesOf } from './events.ts'
export { given } from './given.ts'
export type { LaneRoom } from './lane-room.ts'
export { type LocalOptions, openLocal } from './local.ts'
export { type ApiInfo, openApiDocument } from './openapi.ts'
export { type Operation, Written } from './operation.ts'
export { performed } from './performed.ts'
export { type PlaceBounds, Places, type Taker } from './places.ts'
export { FixedTextError, isStoreError } from './retries.ts'
export { type Answer, type Method, type Route, routeTable } from './route.ts'
export * from './routes/index.ts'
export { InputError, type InputProblem, parsedInput, perform } from './run.ts'
export { createRunbookHands, type HandsOptions } from './runbooks/hands.ts'
export type { RunbookDefinition } from './runbooks/runbook-file.ts'
export * from './schemas/names.ts'
export * from './schemas/operations.ts'
export * from './schemas/problem.ts'
export * from './schemas/redrive.ts'
export * from './schemas/submission.ts'
export * from './schemas/task.ts'
export { ALL_OPERATIONS, OPERATIONS, type OperationName } from './table.ts'
export { TenantLimitBook } from './tenant-limits.ts'
export { noteLimitByHand, type TenantSlotsDocument, tenantSlotsIn } from './tenant-slots.ts'
export { type Amount, TenantUse } from './tenant-use.ts'
export * from './views.ts'

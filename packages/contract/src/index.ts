/**
 * The HTTP API as data: schemas, routes and rights, shared by the server, the command line and the console. It starts no
 * server and makes no request.
 */

export * from './access.ts'
export { type ApiInfo, openApiDocument } from './openapi.ts'
export * from './route.ts'
export * from './routes/index.ts'
export * from './schemas/names.ts'
export * from './schemas/operations.ts'
export * from './schemas/problem.ts'
export * from './schemas/submission.ts'
export * from './schemas/task.ts'
export * from './views.ts'

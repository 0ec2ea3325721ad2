/**
 * The client for a server alone: nothing of an engine or a schema library comes along, so that it fits a browser.
 */

export type { Fetch, TokenSource } from '@reprise/core'
export type { CallOptions, OperationInput, OperationName, OperationOutput, Operations } from '@reprise/operations'
export type { LiveEvent } from './backend.ts'
export { pages } from './calls.ts'
export type { Client, WatchOptions } from './client.ts'
export { createHttpClient, type HttpClientOptions } from './http/create-http-client.ts'
export { type PlannedTask, type SubmitOptions, submission } from './submission.ts'

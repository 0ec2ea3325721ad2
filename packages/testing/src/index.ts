/**
 * What users need to test their own actions and handlers: an engine in memory, a client, a worker, and a clock they
 * move by hand. Nothing here is needed in production.
 */

export { VirtualClock } from '@reprise/core'
export type { DeadExpectation, ShownTask, TaskRef } from './expectations.ts'
export { createTestKit, type TestKit, type TestKitOptions } from './test-kit.ts'

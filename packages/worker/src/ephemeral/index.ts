/**
 * What runs inside a container, function or process that a launcher started for one attempt. It needs the address to call back
 * to and the credential of the attempt, which launchers pass; no store, no API token.
 */

export {
  defineAction,
  implement,
  PermanentError,
  RetryAfterError,
  type RunContext,
  TransientError,
} from '@reprise/core'
export { type EphemeralOrder, orderFromEnvironment, orderFromEvent } from './order.ts'
export { type EphemeralEnd, type EphemeralHandler, type EphemeralOptions, runEphemeral } from './run-ephemeral.ts'

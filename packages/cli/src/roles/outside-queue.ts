// The outside queue of the configuration, for the roles that use it: the core publishes retries by it and looks into it, an
// orchestrator takes tasks from it. Its package is loaded only if there is one.

import type { Clock, OutsideQueue } from '@reprise/core'
import type { Resolved } from '../configuration/resolve.ts'

/** Undefined if none is configured. */
export async function openOutsideQueue({ values }: Resolved, clock: Clock): Promise<OutsideQueue | undefined> {
  const { sqsQueueUrl: queueUrl, sqsRegion, sqsEndpoint } = values
  if (queueUrl === null) return undefined
  const { openSqsQueue } = await import('@reprise/sqs')
  return openSqsQueue({ queueUrl, region: sqsRegion ?? undefined, endpoint: sqsEndpoint ?? undefined, clock })
}

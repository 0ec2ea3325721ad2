// What a launched worker finds in its environment: which execution it is for, its credential, and where to call back. The same
// names whichever launcher started it; `@reprise/worker/ephemeral` and reprise_ephemeral.py read them. Not the payload: that is
// fetched with the credential, or comes by a way of the launcher's own.

import type { LaunchOrder } from '@reprise/core'

/** `callbackUrl` is `https://<server>/task-complete`; null if the worker does not call back. */
export function workerEnvironment(
  order: Omit<LaunchOrder, 'payload' | 'voidAt' | 'key'>,
  callbackUrl: string | null,
): Record<string, string> {
  return {
    REPRISE_TASK_ID: order.taskId,
    REPRISE_ATTEMPT: String(order.attempt),
    REPRISE_LEASE_TOKEN: order.token,
    REPRISE_RETRY_TOKEN: order.retryToken,
    REPRISE_ACTION: order.action,
    REPRISE_TENANT: order.tenant,
    REPRISE_LABELS: JSON.stringify(order.labels),
    REPRISE_TIMEOUT_MS: String(order.timeoutMs),
    ...(callbackUrl === null ? {} : { REPRISE_CALLBACK_URL: callbackUrl }),
  }
}

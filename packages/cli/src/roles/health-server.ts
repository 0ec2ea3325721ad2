// /healthz, /readyz and /metrics of a process that has no API: orchestrators and workers.

import type { HealthServer } from '@reprise/orchestrator'
import type { RoleContext } from './role-context.ts'

/** Where the configuration says, with the metrics of the role. `notReady` says why it can't do its work now; null if it can. */
export async function serveRoleHealth(
  { resolved, metrics }: RoleContext,
  notReady: () => Promise<string | null>,
): Promise<HealthServer> {
  const { METRICS_CONTENT_TYPE, metricsText } = await import('@reprise/telemetry')
  const { serveHealth } = await import('@reprise/orchestrator')
  const { healthHost, healthPort } = resolved.values
  return serveHealth(
    { host: healthHost, port: healthPort },
    {
      '/healthz': () => ({ ok: true, body: { status: 'ok' } }),
      '/readyz': async () => {
        const because = await notReady()
        return because === null
          ? { ok: true, body: { status: 'ready' } }
          : { ok: false, body: { status: 'not ready', because } }
      },
      '/metrics': async () => ({ ok: true, body: await metricsText(metrics), type: METRICS_CONTENT_TYPE }),
    },
  )
}

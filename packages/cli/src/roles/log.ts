// The log of a role: to standard error, in the form and from the level that the configuration says, without secrets.

import { createRedactor, type Logger, type RedactionOptions } from '@reprise/core'
import type { Configuration } from '../configuration/settings.ts'
import type { Host } from '../host.ts'

export async function roleLog(values: Configuration, host: Host, service: string): Promise<Logger> {
  const { createLog } = await import('@reprise/telemetry')
  const redactor = createRedactor(redactionOf(values))
  return createLog({
    level: values.logLevel,
    format: values.logFormat ?? (host.stderr.isTTY === true ? 'text' : 'json'),
    redact: (value) => redactor.value(value),
    write: (line) => void host.stderr.write(line),
    base: { service },
    clock: host.clock,
  })
}

export const redactionOf = (values: Configuration): RedactionOptions => ({
  keys: values.redactKeys,
  patterns: values.redactPatterns,
  allow: values.redactAllow,
})

// What tenants have in a store: added up from their lanes, in steps that are each short.

import type { TenantFigures, TenantId } from '@reprise/core'
import { records, TENANT_ROW } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { tenantFiguresScript } from './scripts.generated.ts'

/** In parts: a tenant may come several times. */
export async function tenantParts(partition: Partition): Promise<readonly TenantFigures[]> {
  const parts: TenantFigures[] = []
  let after = '0'
  do {
    const fields = asTexts(await partition.run(tenantFiguresScript, [after]))
    for (const { tenant, backlog, running, bytes } of records(TENANT_ROW, fields, 1)) {
      parts.push({
        tenant: tenant as TenantId,
        backlog: Number(backlog),
        running: Number(running),
        bytes: Number(bytes),
      })
    }
    after = fields[0] ?? ''
  } while (after !== '')
  return parts
}

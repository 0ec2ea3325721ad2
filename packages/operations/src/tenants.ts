// The operation that tells what each tenant has in the store, and how much of it is allowed.

import { mapLimited, type TenantFigures, type TenantLimits } from '@reprise/core'
import { z } from 'zod'
import { bytesBeside } from './bytes-beside.ts'
import { given } from './given.ts'
import { operation, viewOf } from './operation.ts'
import { PageQuery, pageOf } from './schemas/names.ts'

const Limit = z.int().nullable()
const LOOKS_AT_ONCE = 10

const TenantView = z
  .object({
    tenant: z.string(),
    backlog: z.int().meta({ description: 'Tasks that have not ended.' }),
    running: z.int(),
    bytes: z.int().meta({
      description: 'Payloads of its tasks that were not removed, notes on them, and chunks of jobs that wait.',
    }),
    limits: z
      .object({
        backlog: Limit,
        running: z.union([z.int(), z.string()]).nullable().meta({ description: 'Tasks, or a share of all slots.' }),
        bytes: Limit,
        submitsPerSecond: Limit,
      })
      .meta({ description: 'As they hold for callers who are limited to the tenant; null for none.' }),
  })
  .meta({ id: 'Tenant' })

export const tenantOperations = {
  listTenants: operation({
    route: 'GET /api/v1/tenants',
    summary: 'List tenants with their figures and limits',
    tag: 'figures',
    right: 'read',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(viewOf<TenantFigures & { readonly limits: TenantLimits }>(TenantView), 'TenantPage'),
    answer: 'By name.',
    run: async ({ engine, tenantLimits }, _, page) => {
      const { items, next } = await engine.tenants(given(page))
      const shown = await mapLimited(items, LOOKS_AT_ONCE, async (figures) => ({
        ...figures,
        bytes: figures.bytes + (await bytesBeside(engine, figures.tenant)),
        limits: tenantLimits.of(figures.tenant, true),
      }))
      return { items: shown, next }
    },
  }),
}

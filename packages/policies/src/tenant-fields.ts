// The section `tenants` of a file: how much each tenant may have. The same in a file of policies and in the configuration.

import { InvalidError, type SlotShare, type TenantLimits, type TenantRules, tenantId } from '@reprise/core'
import { z } from 'zod'
import { checked, fields, made, mustBe, optional, whole } from './fields.ts'

const TENANTS_MAX = 10_000
const SIZE = /^(\d{1,9})\s?(kb|mb|gb)$/i
const RUNNING_MAX = 1_000_000
const RUNNING = `a whole number from 0 to ${RUNNING_MAX}, a share of all slots such as 80%, or none`
const UNITS: Readonly<Record<string, number>> = { kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 }

/** A number, or `none` for no limit. */
const limit = (from: number, to: number) =>
  z.preprocess((given) => (given === 'none' ? null : given), whole(from, to).nullable())

const size = z
  .union([z.number(), z.string(), z.null()], { error: ({ input }) => mustBe('a size such as 500MB, or none', input) })
  .transform(
    made((given) => {
      if (given === 'none') return null
      const [, count, unit = ''] = SIZE.exec(String(given)) ?? []
      const bytes = typeof given === 'number' ? given : Number(count) * (UNITS[unit.toLowerCase()] ?? Number.NaN)
      if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes
      throw new InvalidError(mustBe('a size such as 500MB, a whole number of bytes, or none', given))
    }),
  )

const SHARE = /^(?:[1-9]\d?|100)%$/
const running = z.union([z.number(), z.string(), z.null()], { error: ({ input }) => mustBe(RUNNING, input) }).transform(
  made((given): number | SlotShare | null => {
    if (given === 'none' || given === null) return null
    if (typeof given === 'string' && SHARE.test(given)) return given as SlotShare
    if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= RUNNING_MAX) return given
    throw new InvalidError(mustBe(RUNNING, given))
  }),
)

const limits = fields(
  'limits of a tenant',
  optional({
    bytes: size,
    backlog: limit(0, 1_000_000_000),
    submits_per_second: limit(1, 1_000_000),
    running,
  }),
)

/** By tenant, and `default` for all. */
export const tenantRules: z.ZodType<TenantRules> = z
  .record(z.string(), limits, { error: ({ input }) => mustBe('a map, by tenant', input) })
  .superRefine((map, context) => {
    const names = Object.keys(map)
    if (names.length > TENANTS_MAX) {
      context.addIssue({ code: 'custom', message: `At most ${TENANTS_MAX} tenants can be named, not ${names.length}.` })
    }
    for (const name of names) checked(context, [name], () => tenantId(name))
  })
  .transform((map) => map as Readonly<Record<string, Partial<TenantLimits>>>)

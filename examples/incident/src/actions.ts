// Three actions of a shop, as two versions of it have them. Version 1 is fine. Version 2 went to region `eu` and brought three
// faults; a fourth is the region's own: its plugins answer too late. And one task in a hundred can't be done by any version.

import { createHash } from 'node:crypto'
import { type Backoff, defineAction, PermanentError } from '@reprise/worker'

export interface Order {
  readonly order: number
  readonly region: string
  /** Missing in a poisoned task. */
  readonly customer?: string
}

export const VERSIONS = { old: '1', bad: '2', fixed: '3' } as const

/** Short, so that the incident is there soon. */
const BACKOFF: Backoff = { kind: 'fixed', delayMs: 50, jitter: 0 }
const SETTINGS = { retry: { max: 1, backoff: BACKOFF } }

/** A different host for nearly every task: what a cause is called must not depend on it. */
const podOf = ({ order }: Order): string => createHash('sha256').update(String(order)).digest('hex').slice(0, 6)

function customerOf({ order, customer }: Order): string {
  if (customer === undefined) throw new PermanentError(`Order ${order} has no customer.`)
  return customer
}

export function actionsOf(version: string) {
  const isBad = version === VERSIONS.bad
  return [
    defineAction({
      name: 'order.confirm',
      ...SETTINGS,
      run: async (order: Order): Promise<string> => {
        const customer = customerOf(order)
        if (isBad && order.order % 4 === 0) {
          const message = `POST /v2/send answered 500 (pod eu-${podOf(order)}, took ${20 + (order.order % 80)}ms)`
          throw Object.assign(new Error(message), { status: 500 })
        }
        if (isBad) {
          const address = `10.0.${order.order % 250}.${(order.order * 7) % 250}`
          throw Object.assign(new Error(`connect ECONNREFUSED ${address}:8443`), { code: 'ECONNREFUSED' })
        }
        return `confirmed to ${customer}`
      },
    }),
    defineAction({
      name: 'invoice.render',
      ...SETTINGS,
      run: async (order: Order): Promise<string> => {
        customerOf(order)
        // The fault of a programmer: retrying it is no use.
        if (isBad) throw new TypeError("Cannot read properties of undefined (reading 'currency')")
        return 'two pages'
      },
    }),
    defineAction({
      name: 'plugin.call',
      ...SETTINGS,
      run: async (order: Order): Promise<string> => {
        customerOf(order)
        if (isBad)
          throw new Error(`Plugin 'crm-sync' on host-${podOf(order)} timed out after ${800 + (order.order % 90)}ms`)
        return 'synced'
      },
    }),
  ]
}

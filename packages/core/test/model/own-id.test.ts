// Ids in the namespace of a tenant: two pairs never give one stored id, and what is stored can be read again.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NAME_LENGTH_MAX, taskId, tenantId } from '../../src/model/ids.ts'
import { meantIds, ownerOfId, ownId } from '../../src/model/own-id.ts'

// Everything that escaping could mix up; without the paths that climb, which no name may be.
const name = fc
  .string({ unit: fc.constantFrom('a', 'b', '~', '%', '@', '7', 'E', '2', '5'), minLength: 1, maxLength: 8 })
  .filter((text) => !/^(?:%2E){1,2}$/.test(text))

test('reads as tenant and id', () => {
  expect(ownId(tenantId('acme'), taskId('order-17'))).toBe('@acme~order-17')
  expect(ownerOfId('@acme~order-17')).toEqual({ tenant: 'acme', id: 'order-17' })
  expect([ownerOfId('order-17'), ownerOfId('@acme'), ownerOfId('a@acme~x')]).toEqual([null, null, null])
})

test('intruder 12: two pairs of tenant and id never give one stored id', () => {
  fc.assert(
    fc.property(name, name, name, name, (one, first, other, second) => {
      const stored = ownId(tenantId(one), taskId(first))
      expect(ownId(tenantId(one), stored)).toBe(stored)
      expect(ownerOfId(stored)?.tenant).toBe(one)
      expect(one === other || ownId(tenantId(other), taskId(second)) !== stored).toBe(true)
    }),
  )
})

test('an id that is too long with its tenant is refused with the length that is left', () => {
  const tenant = tenantId('acme')
  const left = NAME_LENGTH_MAX - '@acme~'.length
  expect(ownId(tenant, taskId('x'.repeat(left)))).toHaveLength(NAME_LENGTH_MAX)
  expect(() => ownId(tenant, taskId('x'.repeat(left + 1)))).toThrow(`at most ${left}`)
})

test('a limited caller means the own ones first, and never looks into a foreign namespace', () => {
  const tenants = [tenantId('acme'), tenantId('b~')]
  expect(meantIds(null, taskId('@blue~x'))).toEqual(['@blue~x'])
  expect(meantIds(tenants, taskId('x'))).toEqual(['@acme~x', '@b%7E~x', 'x'])
  expect(meantIds(tenants, taskId('@acme~x'))).toEqual(['@acme~x'])
  expect(meantIds(tenants, taskId('@blue~x'))).toEqual(['@acme~@blue~x', '@b%7E~@blue~x'])
  expect(meantIds(tenants, taskId('x'.repeat(NAME_LENGTH_MAX)))).toEqual(['x'.repeat(NAME_LENGTH_MAX)])
})

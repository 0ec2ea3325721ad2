// The doorway of the server: what comes at once is let in by turns, and nobody waits behind the flood of another.

import type { Socket } from 'node:net'
import { type Clock, systemClock, tenantId } from '@reprise/core'
import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { Doorway } from '../src/http/doorway.ts'

/** A loop that turns by hand. */
function loop() {
  const soon: (() => void)[] = []
  const clock: Clock = { ...systemClock, soon: (callback) => void soon.push(callback) }
  return {
    clock,
    turn: () => {
      for (const callback of soon.splice(0)) callback()
    },
  }
}

const request = (authorization: string | null): FastifyRequest =>
  ({ socket: {} as Socket, headers: authorization === null ? {} : { authorization } }) as FastifyRequest

const caller = (actor: string, tenant: string) => ({ actor, tenants: [tenantId(tenant)] })

/** A door through which nobody comes any more in this turn. */
function crowdedDoor() {
  const { clock, turn } = loop()
  const doorway = new Doorway(clock, () => 'here')
  for (let count = 0; count < 64; count++) void doorway.leave(request(null))
  const entered: string[] = []
  const enter = (name: string, of: FastifyRequest): void => doorway.enter(of, () => void entered.push(name))
  return { doorway, entered, enter, turn }
}

test('so many come in during one turn, the others in the next ones, in their order', () => {
  const { clock, turn } = loop()
  const doorway = new Doorway(clock, () => 'here')
  const entered: number[] = []
  for (let number = 0; number < 150; number++) doorway.enter(request(null), () => void entered.push(number))
  const counts = [entered.length]
  for (let count = 0; count < 3; count++) {
    turn()
    counts.push(entered.length)
  }
  expect(counts).toEqual([64, 128, 150, 150])
  expect(entered).toEqual(Array.from({ length: 150 }, (_, number) => number))
})

test('while there are others, one caller has a part of each turn, and strangers of one address a smaller one', () => {
  const { clock, turn } = loop()
  const doorway = new Doorway(clock, () => 'here')
  const entered: string[] = []
  const callers = ['acme', 'blue'].map((tenant) => {
    const of = request(`Bearer ${tenant}`)
    doorway.know(of, caller(`token:${tenant}`, tenant))
    return [tenant, of] as const
  })
  const enter = (name: string, of: FastifyRequest): void => doorway.enter(of, () => void entered.push(name))
  for (const [name, of] of callers) enter(name, of)
  turn()
  entered.length = 0
  for (let number = 0; number < 100; number++) {
    enter('stranger', request(null))
    for (const [name, of] of callers) enter(name, of)
  }
  const seen = (): readonly number[] =>
    ['stranger', 'acme', 'blue'].map((name) => entered.filter((one) => one === name).length)
  expect(seen()).toEqual([4, 16, 16])
  turn()
  expect(seen()).toEqual([8, 32, 32])
  for (let count = 0; count < 30; count++) turn()
  expect(seen()).toEqual([100, 100, 100])
})

test('an answer waits like a request', async () => {
  const { doorway, turn } = crowdedDoor()
  const leaving = doorway.leave(request(null))
  turn()
  await leaving
  expect(doorway.leave(request(null))).toBeNull()
})

test('a flood of one caller keeps no other waiting, also not by many credentials of one tenant', () => {
  const { doorway, entered, enter, turn } = crowdedDoor()
  const flood = Array.from({ length: 10 }, (_, number) => request(`Bearer a${number}`))
  for (const [number, one] of flood.entries()) doorway.know(one, caller(`token:a${number}`, 'acme'))
  const neighbour = request('Bearer b')
  doorway.know(neighbour, caller('token:b', 'blue'))

  for (const one of flood) enter('acme', one)
  enter('blue', neighbour)
  for (let count = 0; count < 3; count++) turn()
  expect(entered).toHaveLength(11)
  expect(entered.indexOf('blue')).toBe(1)
})

test('a caller whose credential is known does not wait among strangers, on a new connection either', () => {
  const { doorway, entered, enter, turn } = crowdedDoor()
  doorway.know(request('Bearer b'), caller('token:b', 'blue'))
  for (let count = 0; count < 10; count++) enter('stranger', request(`Bearer made-up-${count}`))
  enter('blue', request('Bearer b'))
  for (let count = 0; count < 3; count++) turn()
  expect(entered).toHaveLength(11)
  expect(entered.indexOf('blue')).toBe(1)
})

// Collections: typed documents with optimistic versions and declared indexes.

import type { Collection, CollectionDefinition } from '@reprise/core'
import { expect } from 'vitest'
import { expectRefused, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

interface Order {
  readonly id: string
  readonly owner: string | null
  readonly lines: readonly number[]
}

const definition: CollectionDefinition<Order> = {
  name: 'orders',
  indexes: { owner: ({ owner }) => owner, size: ({ lines }) => String(lines.length) },
}

const order = (id: string, owner: string | null = null, lines: readonly number[] = []): Order => ({ id, owner, lines })
const orders = ({ engine }: Store): Collection<Order> => engine.collection(definition)
const idsOf = (page: { readonly items: readonly { readonly document: Order }[] }) =>
  page.items.map(({ document }) => document.id)

export const collections = subject('collections', (check) => {
  check('inserts and gets a document', async (store) => {
    const stored = { document: order('o1', 'ann', [1, 2]), version: 1, createdAt: START, updatedAt: START }
    expect(await orders(store).insert(order('o1', 'ann', [1, 2]))).toEqual(stored)
    expect(await orders(store).get('o1')).toEqual(stored)
    expect(await orders(store).get('o2')).toBe(null)
  })

  check('an id is inserted once', async (store) => {
    await orders(store).insert(order('o1', 'ann'))
    await expectRefused(orders(store).insert(order('o1', 'bob')), 'REPRISE_CONFLICT')
    expect((await orders(store).get('o1'))?.document.owner).toBe('ann')
  })

  check('updates count the version up and keep the creation time', async (store) => {
    await orders(store).insert(order('o1'))
    store.clock.jump(1_000)
    const updated = { document: order('o1', 'bob'), version: 2, createdAt: START, updatedAt: START + 1_000 }
    expect(await orders(store).update(order('o1', 'bob'), 1)).toEqual(updated)
    expect(await orders(store).get('o1')).toEqual(updated)
  })

  check('an update with an old version is a conflict and changes nothing', async (store) => {
    await orders(store).insert(order('o1'))
    await orders(store).update(order('o1', 'bob'), 1)
    await expectRefused(orders(store).update(order('o1', 'eve'), 1), 'REPRISE_CONFLICT')
    expect((await orders(store).get('o1'))?.document.owner).toBe('bob')
    await expectRefused(orders(store).update(order('o9'), 1), 'REPRISE_NOT_FOUND')
  })

  check('of 10 concurrent updates of one version, one wins', async (store) => {
    await orders(store).insert(order('o1'))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => orders(store).update(order('o1', `p${index}`), 1)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await orders(store).get('o1'))?.version).toBe(2)
  })

  check('removes, if the version fits', async (store) => {
    await orders(store).insert(order('o1'))
    await expectRefused(orders(store).remove('o1', 7), 'REPRISE_CONFLICT')
    expect(await orders(store).remove('o1', 1)).toBe(true)
    expect(await orders(store).remove('o1')).toBe(false)
    expect(await orders(store).get('o1')).toBe(null)
  })

  check('finds by each index, oldest first', async (store) => {
    for (const document of [order('o3', 'ann', [1]), order('o1', 'bob', [1]), order('o2', 'ann')])
      await orders(store).insert(document)
    expect(idsOf(await orders(store).find({ index: 'owner', value: 'ann' }))).toEqual(['o3', 'o2'])
    expect(idsOf(await orders(store).find({ index: 'size', value: '1' }))).toEqual(['o3', 'o1'])
    expect(idsOf(await orders(store).find({ index: 'owner', value: 'nobody' }))).toEqual([])
  })

  check('indexes follow updates and removals; null leaves a document out', async (store) => {
    await orders(store).insert(order('o1', 'ann'))
    await orders(store).insert(order('o2', null))
    await orders(store).update(order('o1', 'bob'), 1)
    expect(idsOf(await orders(store).find({ index: 'owner', value: 'ann' }))).toEqual([])
    expect(idsOf(await orders(store).find({ index: 'owner', value: 'bob' }))).toEqual(['o1'])
    await orders(store).remove('o1')
    expect(idsOf(await orders(store).find({ index: 'owner', value: 'bob' }))).toEqual([])
    expect(idsOf(await orders(store).list())).toEqual(['o2'])
  })

  check('refuses an index that was not declared', async (store) => {
    await expectRefused(orders(store).find({ index: 'colour', value: 'red' }), 'REPRISE_INVALID')
  })

  check('lists by creation, page by page; what comes meanwhile does not shift the pages', async (store) => {
    for (const id of ['o3', 'o1', 'o2']) await orders(store).insert(order(id))
    const first = await orders(store).list({ limit: 2 })
    expect(idsOf(first)).toEqual(['o3', 'o1'])
    await orders(store).update(order('o3', 'ann'), 1)
    await orders(store).insert(order('o0'))
    const second = await orders(store).list({ limit: 5, cursor: first.next ?? '' })
    expect(idsOf(second)).toEqual(['o2', 'o0'])
    expect(second.next).toBe(null)
  })

  check('finds page by page', async (store) => {
    for (const id of ['o1', 'o2', 'o3']) await orders(store).insert(order(id, 'ann'))
    const first = await orders(store).find({ index: 'owner', value: 'ann', limit: 2 })
    expect(idsOf(first)).toEqual(['o1', 'o2'])
    expect(
      idsOf(await orders(store).find({ index: 'owner', value: 'ann', limit: 2, cursor: first.next ?? '' })),
    ).toEqual(['o3'])
  })

  check('keeps collections apart', async (store) => {
    await orders(store).insert(order('o1'))
    expect(await store.engine.collection({ ...definition, name: 'drafts' }).get('o1')).toBe(null)
  })

  check('refuses a document that is too large', async (store) => {
    await expectRefused(orders(store).insert(order('o1', 'x'.repeat(262_144))), 'REPRISE_TOO_LARGE')
  })

  check('nobody changes a stored document from outside', async (store) => {
    const lines = [1]
    await orders(store).insert(order('o1', null, lines))
    lines.push(2)
    expect((await orders(store).get('o1'))?.document.lines).toEqual([1])
  })
})

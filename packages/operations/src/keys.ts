// Operations about the keys that the store keeps: which there are, and a new one in place of the one in force. No operation
// shows a key itself.

import { durationMs } from '@reprise/core'
import { KEY_RINGS, type KeyFacts, keyFacts, rotateKeys } from '@reprise/orchestrator'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import { operation } from './operation.ts'
import { DurationInput, Moment, pageOf, ReasonInput, wholePage } from './schemas/names.ts'

const RingName = z.enum(KEY_RINGS).meta({
  description:
    '`lease-credentials` signs what workers outside hold. `seals` marks API tokens, sessions and links that we made.',
})

const KeyView = z
  .object({
    ring: RingName,
    id: z.string(),
    from: Moment.meta({ description: 'It signs from then on, until a newer key does.' }),
    until: Moment.nullable().meta({ description: 'It verifies until then; null while there is no newer key.' }),
  })
  .meta({ id: 'Key', description: 'A key of the store, without its secret.' })

const KeysView = pageOf(KeyView, 'Keys')

const viewOf = (ring: (typeof KEY_RINGS)[number], facts: readonly KeyFacts[]) => facts.map((key) => ({ ring, ...key }))

export const keyOperations = {
  listKeys: operation({
    route: 'GET /api/v1/keys',
    summary: 'Keys of the store, without their secrets',
    tag: 'access',
    right: 'tokens',
    tenants: 'all',
    input: z.object({}),
    output: KeysView,
    answer: 'Of each ring the oldest first.',
    run: async ({ engine, clock }) => {
      const rings = await Promise.all(KEY_RINGS.map(async (ring) => viewOf(ring, await keyFacts(engine, ring, clock))))
      return wholePage(rings.flat())
    },
  }),
  rotateKeys: operation({
    route: 'POST /api/v1/keys/{ring}/rotate',
    summary: 'Make a new key',
    description:
      'It comes into force after a minute, when every process knows it. The keys before it go on to verify for `keep`, so nothing that is out stops working.',
    tag: 'access',
    right: 'tokens',
    tenants: 'all',
    input: z.object({
      ring: RingName,
      keep: DurationInput.optional().meta({
        description:
          'How long the keys before it still verify; 7 days if missing. 0 if one was stolen: they end at once.',
      }),
      reason: ReasonInput.optional(),
    }),
    output: KeysView,
    answer: 'The keys of this ring, the new one last.',
    problems: [409],
    run: async ({ engine, clock }, caller, { ring, keep, reason }) => {
      const keepMs = keep === undefined ? {} : { keepMs: durationMs(keep) }
      const keys = viewOf(ring, await rotateKeys(engine, ring, { clock, ...keepMs }))
      const { actor, reason: why } = byOf(caller, reason)
      const entry = { type: 'note', taskId: null, attempt: null, actor } as const
      const data = { ring, key: keys.at(-1)?.id ?? null }
      await engine.journal.append([{ ...entry, reason: `A new key was made for ${ring}: ${why}`, data }])
      return wholePage(keys)
    },
  }),
}

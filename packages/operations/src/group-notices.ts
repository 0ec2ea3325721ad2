// Telling the tenants whose tasks died of a cause what an operator has to say about it: each of them once, and of its own tasks alone.

import { createHash } from 'node:crypto'
import { checkedText, NotFoundError } from '@reprise/core'
import { z } from 'zod'
import { noticeTenants } from './channels/tenant-notices.ts'
import { groupOf } from './group-views.ts'
import { operation } from './operation.ts'
import { checkedBy, NameInput } from './schemas/names.ts'

const MESSAGE_LENGTH_MAX = 1_000
const PER_HOUR_MAX = 10

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

export const groupNoticeOperations = {
  notifyTenants: operation({
    route: 'POST /api/v1/tenants/notify',
    summary: 'Tell the tenants that are affected by a cause',
    description:
      'Each tenant with dead letters of this cause gets an event `tenant.notified` with the message and the number of its own tasks. The same message is told to a tenant once, however often this is asked for. A tenant gets at most 10 in an hour.',
    tag: 'failure groups',
    right: 'operate',
    tenants: 'all',
    input: z.object({
      fingerprint: NameInput.meta({ description: 'The failure group.' }),
      message: checkedBy(
        (value) => checkedText('message', value, MESSAGE_LENGTH_MAX),
        'What they are told.',
        MESSAGE_LENGTH_MAX,
      ),
    }),
    output: z.object({ told: z.int().meta({ description: 'How many tenants were told now.' }) }),
    answer: 'How many were told.',
    repeatable: true,
    problems: [404],
    run: async (context, _caller, { fingerprint, message }) => {
      const group = await groupOf(context.engine, fingerprint)
      if (group === null) throw new NotFoundError('failure group', fingerprint)
      const { action } = group
      const about = { alert: `cause-${fingerprint}`, episode: digestOf(message), fingerprint, action, message }
      return { told: await noticeTenants(context.engine, { ...about, what: 'firing' }, PER_HOUR_MAX) }
    },
  }),
}

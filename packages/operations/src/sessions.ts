// Operations about the sessions of browsers: who is signed in, and to sign somebody out.

import { z } from 'zod'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { Moment, NameInput, PageQuery, pageOf } from './schemas/names.ts'

const SessionView = z
  .object({
    id: z.string().meta({ description: 'To revoke it by. It opens nothing.' }),
    actor: z.string().meta({ description: 'Whose session it is, as the journal names them.' }),
    name: z.string(),
    startedAt: Moment,
    seenAt: Moment.meta({ description: 'The last request, to the minute.' }),
    endsAt: Moment.meta({ description: 'When it ends at the latest.' }),
  })
  .meta({ id: 'Session', description: 'A browser that is signed in, without its secret.' })

export const sessionOperations = {
  listSessions: operation({
    route: 'GET /api/v1/sessions',
    summary: 'Browsers that are signed in',
    tag: 'access',
    right: 'tokens',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(SessionView, 'SessionPage'),
    answer: 'Oldest first.',
    run: ({ sessions }, _, page) => sessions.list(given(page)),
  }),
  revokeSession: operation({
    route: 'DELETE /api/v1/sessions/{id}',
    summary: 'Sign a browser out',
    description: 'Every server refuses the session at its next request.',
    tag: 'access',
    right: 'tokens',
    tenants: 'all',
    input: z.object({ id: NameInput }),
    output: z.null(),
    answer: 'It is revoked.',
    status: 204,
    problems: [404],
    run: async ({ sessions }, caller, { id }) => {
      await sessions.revoke(id, caller)
      return null
    },
  }),
}

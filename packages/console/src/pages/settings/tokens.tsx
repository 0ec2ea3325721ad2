// API tokens: which there are, what each may do, when it was last used; to make one, and to revoke one.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { refresh, useList } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { NewToken } from './new-token.tsx'
import { ROLES } from './roles.ts'

type Token = OperationOutput<'listTokens'>['items'][number]

/** The role that these scopes are, if they are one. */
const roleOf = (scopes: readonly string[]): string =>
  Object.entries(ROLES).find(
    ([, its]) => its.length === scopes.length && its.every((one) => scopes.includes(one)),
  )?.[0] ?? scopes.join(', ')

export function Tokens() {
  const { items, error, more, hasMore } = useList('listTokens', { limit: 200 })
  const [sheet] = useParam('sheet')
  const [revoking, setRevoking] = useState<Token | null>(null)
  const make = (): void => setParams({ sheet: 'token' })
  useCommands([{ title: 'Make a token', group: 'On this page', run: make }])
  const columns: readonly Column<Token>[] = [
    { id: 'name', title: 'Name', width: 'minmax(0, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
    { id: 'may', title: 'May', width: 'minmax(0, 1fr)', cell: ({ scopes }) => roleOf(scopes) },
    {
      id: 'tenants',
      title: 'Tenants',
      width: 'minmax(0, 1fr)',
      from: 560,
      cell: ({ tenants }) =>
        tenants === null ? (
          <span className="text-dim">all</span>
        ) : (
          <bdi title={tenants.join(', ')}>{tenants.join(', ')}</bdi>
        ),
    },
    {
      id: 'used',
      title: 'Last used',
      width: '80px',
      from: 480,
      isNumber: true,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-dim">never</span> : <Ago at={lastUsedAt} />,
    },
    {
      id: 'expires',
      title: 'Expires',
      width: '80px',
      from: 700,
      isNumber: true,
      cell: ({ expiresAt }) => (expiresAt === null ? <span className="text-dim">never</span> : <Ago at={expiresAt} />),
    },
    {
      id: 'by',
      title: 'Made by',
      width: 'minmax(0, 1fr)',
      from: 900,
      cell: ({ createdBy, createdAt }) => (
        <span className="text-dim">
          <bdi>{createdBy}</bdi>, <Ago at={createdAt} />
        </span>
      ),
    },
    {
      id: 'act',
      title: 'Revoke',
      hidesTitle: true,
      width: '84px',
      cell: (token) => (
        <button type="button" className="button h-6 text-sm" onClick={() => setRevoking(token)}>
          Revoke …
        </button>
      ),
    },
  ]
  return (
    <Answered of={{ data: items, error }} what="the tokens">
      {(tokens) => (
        <>
          <div className="flex flex-wrap items-center gap-3 pb-2">
            <p className="flex-1 text-md">
              {tokens.length === 0
                ? 'No program comes in by a token.'
                : `${hasMore ? '≥ ' : ''}${many(tokens.length, 'token')}; the secrets of none are kept.`}
            </p>
            <button type="button" className="button button-main" onClick={make}>
              Make a token …
            </button>
          </div>
          {tokens.length === 0 ? (
            <Empty title="There is no token yet." command="npx reprise token create ci --role operator --expires 90d">
              Programs use tokens: a service that submits tasks, a pipeline, a worker of another language.
            </Empty>
          ) : (
            <DataTable label="Tokens" rows={tokens} keyOf={({ id }) => id} columns={columns} onEnd={more} />
          )}
          {sheet === 'token' && <NewToken onClose={() => setParams({ sheet: null })} />}
          {revoking !== null && <Confirm change={revokeOf(revoking)} onClose={() => setRevoking(null)} />}
        </>
      )}
    </Answered>
  )
}

function revokeOf({ id, name, lastUsedAt }: Token): Change {
  return {
    title: `Revoke ${name}`,
    verb: 'Revoke the token',
    isDangerous: true,
    hasReason: false,
    command: `npx reprise token revoke ${shellWord(id)}`,
    touches: (
      <p>
        Every server refuses it within a second, for ever.{' '}
        {lastUsedAt === null ? (
          'It was never used.'
        ) : (
          <>
            It was last used <Ago at={lastUsedAt} />: programs that use it stop working.
          </>
        )}
      </p>
    ),
    run: async () => {
      await call('revokeToken', { id })
      await refresh()
      return `The token ${name} is revoked.`
    },
  }
}

// Webhooks: where events are sent to, whether they arrive, and what to do if they don't.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { refresh, useList } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Field, FormSheet, ShownOnce } from '../../parts/form-sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { WebhookSheet } from './webhook-sheet.tsx'

export type Webhook = OperationOutput<'listWebhooks'>['items'][number]

export function Webhooks() {
  const { items, error, more } = useList('listWebhooks', { limit: 200 })
  const [sheet] = useParam('sheet')
  const [open] = useParam('webhook')
  const make = (): void => setParams({ sheet: 'webhook' })
  useCommands([{ title: 'Make a webhook', group: 'On this page', run: make }])
  const chosen = items?.find(({ id }) => id === open)
  return (
    <Answered of={{ data: items, error }} what="the webhooks">
      {(webhooks) => (
        <>
          <div className="flex flex-wrap items-center gap-3 pb-2">
            <p className="flex-1 text-md">{sentenceOf(webhooks)}</p>
            <button type="button" className="button button-main" onClick={make}>
              Make a webhook …
            </button>
          </div>
          {webhooks.length === 0 ? (
            <Empty
              title="Nobody is told of anything."
              command="npx reprise webhooks create https://hooks.example.com/in --type 'breaker.*'"
            >
              A webhook posts events, signed, to an address of yours: failures, holds, work orders, ends of tasks. It
              tries again for hours, and nothing is lost while the receiver is away.
            </Empty>
          ) : (
            <DataTable
              label="Webhooks"
              rows={webhooks}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              onEnd={more}
              onOpen={({ id }) => setParams({ webhook: id })}
            />
          )}
          {sheet === 'webhook' && <NewWebhook onClose={() => setParams({ sheet: null })} />}
          {chosen !== undefined && (
            <WebhookSheet webhook={chosen} onClose={() => setParams({ webhook: null, delivery: null })} />
          )}
        </>
      )}
    </Answered>
  )
}

function sentenceOf(webhooks: readonly Webhook[]): string {
  const off = webhooks.filter(({ enabled }) => !enabled).length
  const failed = webhooks.filter(({ disabledBecause }) => disabledBecause !== null).length
  if (webhooks.length === 0) return 'No event is sent anywhere.'
  const said = `${many(webhooks.length, 'webhook')}`
  if (failed > 0) return `${said}; ${many(failed, 'was', 'were')} switched off because nothing arrived.`
  return off > 0 ? `${said}; ${many(off, 'is', 'are')} switched off.` : `${said}, all switched on.`
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'is',
    title: 'Is',
    width: '56px',
    cell: ({ enabled, disabledBecause }) => (
      <StateMark
        state={enabled ? 'succeeded' : disabledBecause === null ? 'held' : 'dead'}
        word={enabled ? 'on' : 'off'}
      />
    ),
  },
  {
    id: 'url',
    title: 'Address',
    width: 'minmax(0, 2fr)',
    cell: ({ url }) => (
      <bdi className="font-mono text-sm" title={url}>
        {url}
      </bdi>
    ),
  },
  {
    id: 'types',
    title: 'Events',
    width: 'minmax(0, 1.4fr)',
    from: 480,
    cell: ({ types }) => {
      const said = types.length === 0 ? 'all' : types.map((type) => type.replace(/^reprise\./, '')).join(', ')
      return <bdi title={said}>{said}</bdi>
    },
  },
  {
    id: 'actions',
    title: 'Actions',
    width: 'minmax(0, 1fr)',
    from: 760,
    cell: ({ actions }) => <bdi>{actions.length === 0 ? 'all' : actions.join(', ')}</bdi>,
  },
  { id: 'tenant', title: 'Tenant', width: '96px', from: 760, cell: ({ tenant }) => <bdi>{tenant ?? 'all'}</bdi> },
  {
    id: 'note',
    title: 'Note',
    width: 'minmax(0, 1fr)',
    from: 620,
    cell: ({ disabledBecause, description }) => (
      <bdi className={disabledBecause === null ? 'text-dim' : 'text-dead'} title={disabledBecause ?? description}>
        {disabledBecause ?? description}
      </bdi>
    ),
  },
]

const list = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState('')
  const [actions, setActions] = useState('')
  const [tenant, setTenant] = useState('')
  const [description, setDescription] = useState('')
  const [secret, setSecret] = useState<string | null>(null)
  const wanted = list(types).map((type) => type.replace(/^(?:reprise\.)?/, 'reprise.'))
  const whose = tenant.trim()
  const about = description.trim()
  const make = async (): Promise<void> => {
    const given = { ...(whose === '' ? {} : { tenant: whose }), ...(about === '' ? {} : { description: about }) }
    const made = await call('createWebhook', { url: url.trim(), types: wanted, actions: list(actions), ...given })
    setSecret(made.secret ?? '')
    await refresh()
  }
  const command = [
    `npx reprise webhooks create ${url.trim() === '' ? '<url>' : shellWord(url.trim())}`,
    ...(wanted.length === 0 ? [] : [`--type ${shellWord(list(types).join(','))}`]),
    ...list(actions).map((action) => `--action ${shellWord(action)}`),
    ...(whose === '' ? [] : [`--tenant ${shellWord(whose)}`]),
    ...(about === '' ? [] : [`--description ${shellWord(about)}`]),
  ].join(' ')
  if (secret !== null) {
    const says = 'The receiver checks signatures with it. Copy it now: it is shown this once. Then send a ping.'
    return <ShownOnce title="The webhook's secret" says={says} secret={secret} onClose={onClose} />
  }
  return (
    <FormSheet
      title="Make a webhook"
      verb="Make it"
      command={command}
      isReady={url.trim() !== ''}
      submit={make}
      onClose={onClose}
    >
      <p className="text-md">Every event that agrees is posted there from now on, signed.</p>
      <Field label="Address" value={url} onChange={setUrl} example="https://hooks.example.com/in" />
      <Field label="Kinds of events; all if empty" value={types} onChange={setTypes} example="breaker.*, task.dead" />
      <Field label="Actions; all if empty" value={actions} onChange={setActions} example="invoice.send" />
      <Field label="Tenant; all that you see if empty" value={tenant} onChange={setTenant} example="acme" />
      <Field label="What it is for" value={description} onChange={setDescription} example="the pager" />
    </FormSheet>
  )
}

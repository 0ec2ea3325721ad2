// One webhook: what was sent to it and what came back, a ping, and the way to send something again.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { refresh, useList } from '../../api/operations.ts'
import { many, moment, span } from '../../format.ts'
import { Choices } from '../../parts/choices.tsx'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { Webhook } from './webhooks.tsx'

type Delivery = OperationOutput<'listDeliveries'>['items'][number]
type Act = 'test' | 'switch' | 'remove' | { readonly again: Delivery }

const LOOKS: Readonly<Record<Delivery['status'], readonly [look: string, word: string]>> = {
  pending: ['waiting', 'pending'],
  delivered: ['succeeded', 'delivered'],
  given_up: ['dead', 'given up'],
}
const STATUSES = [
  { value: '', word: 'All' },
  { value: 'pending', word: 'Pending' },
  { value: 'delivered', word: 'Delivered' },
  { value: 'given_up', word: 'Given up' },
] as const

const answerOf = ({ log }: Delivery): string => {
  const last = log.at(-1)
  return last === undefined ? 'not sent yet' : (last.error ?? `HTTP ${last.status}`)
}

export function WebhookSheet({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { id, url, enabled, disabledBecause, types, actions, tenant, description } = webhook
  const [act, setAct] = useState<Act | null>(null)
  const [status] = useParam('deliveries')
  const [open] = useParam('delivery')
  const { items, error, more, hasMore } = useList('listDeliveries', {
    id,
    limit: 100,
    ...(status === '' ? {} : { status: status as Delivery['status'] }),
  })
  return (
    <Sheet
      title={<bdi className="font-mono text-base break-all">{url}</bdi>}
      onClose={onClose}
      actions={
        <>
          <button type="button" className="button" onClick={() => setAct('test')}>
            Send a ping …
          </button>
          <button type="button" className="button" onClick={() => setAct('switch')}>
            Switch {enabled ? 'off' : 'on'} …
          </button>
          <button type="button" className="button button-danger" onClick={() => setAct('remove')}>
            Remove …
          </button>
        </>
      }
    >
      <p className="mb-2 text-md">
        <StateMark
          state={enabled ? 'succeeded' : disabledBecause === null ? 'held' : 'dead'}
          word={enabled ? 'on' : 'off'}
        />
        {disabledBecause !== null && (
          <>
            {' '}
            · <bdi className="text-dead">{disabledBecause}</bdi>
          </>
        )}
      </p>
      <Facts
        of={[
          ['events', <bdi key="types">{types.length === 0 ? 'all' : types.join(', ')}</bdi>],
          ['actions', <bdi key="actions">{actions.length === 0 ? 'all' : actions.join(', ')}</bdi>],
          ['tenant', <bdi key="tenant">{tenant ?? 'all'}</bdi>],
          ['for', description === '' ? null : <bdi key="for">{description}</bdi>],
          ['made by', <bdi key="by">{webhook.createdBy}</bdi>],
          ['made', <Ago key="made" at={webhook.createdAt} />],
          [
            'id',
            <bdi key="id" className="font-mono text-sm">
              {id}
            </bdi>,
          ],
        ]}
      />
      <Section title="Deliveries">
        <Choices label="Which deliveries" param="deliveries" choices={STATUSES} />
        <Answered of={{ data: items, error }} what="the deliveries">
          {(deliveries) =>
            deliveries.length === 0 ? (
              <p className="py-2 text-dim">
                {status === '' ? 'Nothing was sent to it yet. Send a ping.' : 'None is like that.'}
              </p>
            ) : (
              <>
                <ul aria-label="Deliveries" className="mt-1 border-t border-line">
                  {deliveries.toReversed().map((delivery) => (
                    <OneDelivery
                      key={delivery.id}
                      delivery={delivery}
                      isOpen={delivery.id === open}
                      onAgain={() => setAct({ again: delivery })}
                    />
                  ))}
                </ul>
                {hasMore && (
                  <button
                    type="button"
                    className="button mt-2 h-7 text-sm"
                    disabled={more === null}
                    onClick={() => more?.()}
                  >
                    Newer ones
                  </button>
                )}
              </>
            )
          }
        </Answered>
      </Section>
      {act !== null && <Confirm change={changeOf(act, webhook, onClose)} onClose={() => setAct(null)} />}
    </Sheet>
  )
}

function OneDelivery({
  delivery,
  isOpen,
  onAgain,
}: {
  readonly delivery: Delivery
  readonly isOpen: boolean
  readonly onAgain: () => void
}) {
  const { id, type, status, tries, nextAt, log, event } = delivery
  const [look, word] = LOOKS[status]
  return (
    <li className="border-b border-line py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StateMark state={look} word={word} />
        <span className="font-mono text-sm">{type.replace(/^reprise\./, '')}</span>
        <bdi className="min-w-0 flex-1 truncate text-sm text-dim">
          {answerOf(delivery)}
          {tries > 1 ? `, ${many(tries, 'try', 'tries')}` : ''}
        </bdi>
        {nextAt !== null && (
          <span className="text-sm text-dim">
            next <Ago at={nextAt} />
          </span>
        )}
        <button
          type="button"
          aria-expanded={isOpen}
          className="button h-6 text-sm"
          onClick={() => setParams({ delivery: isOpen ? null : id })}
        >
          {isOpen ? 'Less' : 'More'}
        </button>
        <button type="button" className="button h-6 text-sm" onClick={onAgain}>
          Send again …
        </button>
      </div>
      {isOpen && (
        <div className="mt-2 flex flex-col gap-2">
          <ol className="text-sm">
            {log.map(({ at, durationMs, status: code, error, answer }) => (
              <li key={at} className="break-words">
                <span className="text-dim">
                  {moment(at)} · {span(durationMs)} ·{' '}
                </span>
                <bdi>
                  {error ?? `HTTP ${code}`}
                  {answer === '' ? '' : `: ${answer}`}
                </bdi>
              </li>
            ))}
          </ol>
          <JsonView value={event} />
        </div>
      )}
    </li>
  )
}

function changeOf(act: Act, { id, url, enabled }: Webhook, onGone: () => void): Change {
  const word = shellWord(id)
  if (act === 'test') {
    return {
      title: 'Send a ping',
      verb: 'Send it',
      hasReason: false,
      command: `reprise webhooks test ${word}`,
      touches: (
        <p>
          One request to <bdi className="break-all">{url}</bdi>, signed as all are. Nothing else changes.
        </p>
      ),
      run: async () => {
        const delivery = await call('testWebhook', { id })
        await refresh()
        return `${delivery.status === 'delivered' ? 'It arrives' : 'It does not arrive'}: ${answerOf(delivery)}.`
      },
    }
  }
  if (act === 'switch') {
    const set = async (next: boolean): Promise<void> => {
      await call('updateWebhook', { id, enabled: next })
      await refresh()
    }
    return {
      title: enabled ? 'Switch it off' : 'Switch it on',
      verb: enabled ? 'Switch off' : 'Switch on',
      hasReason: false,
      command: `reprise webhooks ${enabled ? 'disable' : 'enable'} ${word}`,
      touches: (
        <p>
          {enabled
            ? 'Nothing is sent to it until it is switched on again; then it goes on where it stopped.'
            : 'It goes on where it stopped: what happened meanwhile is sent now.'}
        </p>
      ),
      run: async () => {
        await set(!enabled)
        return { says: `The webhook is ${enabled ? 'off' : 'on'}.`, undo: () => set(enabled) }
      },
    }
  }
  if (act === 'remove') {
    return {
      title: 'Remove this webhook',
      verb: 'Remove it',
      isDangerous: true,
      hasReason: false,
      command: `reprise webhooks remove ${word}`,
      touches: <p>Nothing is sent to it any more, and its deliveries are gone. This can't be taken back.</p>,
      run: async () => {
        await call('removeWebhook', { id })
        onGone()
        await refresh()
        return 'The webhook is gone.'
      },
    }
  }
  const { again } = act
  return {
    title: 'Send it again',
    verb: 'Send it',
    hasReason: false,
    command: `reprise webhooks redeliver ${word} ${shellWord(again.id)}`,
    touches: (
      <p>
        The same event with the same id, {again.type.replace(/^reprise\./, '')}, to{' '}
        <bdi className="break-all">{url}</bdi>. A receiver that remembers ids does nothing twice.
      </p>
    ),
    run: async () => {
      await call('redeliver', { id, delivery: again.id })
      await refresh()
      return 'It is sent again.'
    },
  }
}

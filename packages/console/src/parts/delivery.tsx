// The deliveries of a webhook or a channel: whether it arrived, what came back at each try, and what was sent.

import type { ReactNode } from 'react'
import { setParams, useParam } from '../address.tsx'
import type { OperationOutput } from '../api/client.ts'
import { many, moment, span } from '../format.ts'
import { JsonView } from './json-view.tsx'
import { StateMark } from './state-mark.tsx'
import { Answered } from './states.tsx'
import { Ago } from './texts.tsx'

export type Delivery = OperationOutput<'listDeliveries'>['items'][number]

const LOOKS: Readonly<Record<Delivery['status'], readonly [look: string, word: string]>> = {
  pending: ['waiting', 'pending'],
  delivered: ['succeeded', 'delivered'],
  given_up: ['dead', 'given up'],
}

/** What the last try came to. An e-mail has no status, and says it in words. */
export const answerOf = ({ log }: Delivery): string => {
  const last = log.at(-1)
  if (last === undefined) return 'not sent yet'
  return last.error ?? (last.status === null ? last.answer : `HTTP ${last.status}`)
}

/** For the note after a test. */
export const arrivalOf = (delivery: Delivery): string =>
  `${delivery.status === 'delivered' ? 'It arrives' : 'It does not arrive'}: ${answerOf(delivery)}.`

interface DeliveriesProps {
  readonly of: {
    readonly items: readonly Delivery[] | undefined
    readonly error: unknown
    readonly more: (() => void) | null
    readonly hasMore: boolean
  }
  /** What to say if there are none. */
  readonly none: string
  readonly actionOf?: (delivery: Delivery) => ReactNode
}

/** The newest first. */
export function Deliveries({ of: { items, error, more, hasMore }, none, actionOf }: DeliveriesProps) {
  return (
    <Answered of={{ data: items, error }} what="the deliveries">
      {(deliveries) =>
        deliveries.length === 0 ? (
          <p className="py-2 text-dim">{none}</p>
        ) : (
          <>
            <ul aria-label="Deliveries" className="mt-1 border-t border-line">
              {deliveries.toReversed().map((delivery) => (
                <DeliveryLine key={delivery.id} delivery={delivery} action={actionOf?.(delivery)} />
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
  )
}

/** Which one is open stands in the address. */
function DeliveryLine({ delivery, action }: { readonly delivery: Delivery; readonly action?: ReactNode }) {
  const { id, type, status, tries, nextAt, log, event } = delivery
  const [open] = useParam('delivery')
  const isOpen = open === id
  const [look, word] = LOOKS[status]
  return (
    <li className="border-b border-line py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StateMark state={look} word={word} />
        <span className="font-mono text-sm">{type.replace(/^reprise\./, '')}</span>
        <bdi className="min-w-0 flex-1 basis-32 truncate text-sm text-dim">
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
        {action}
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
                  {error ?? (code === null ? '' : `HTTP ${code}`)}
                  {answer === '' ? '' : `${error === null && code === null ? '' : ': '}${answer}`}
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

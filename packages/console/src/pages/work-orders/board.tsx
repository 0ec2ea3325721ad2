// Work orders as a board: one column for each state, the worst on top.

import { Link } from '../../address.tsx'
import { count } from '../../format.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { Ago } from '../../parts/texts.tsx'
import { type About, ORDER_LOOKS, SEVERITY_SHAPES, type Status, type WorkOrder } from './order-words.ts'

const COLUMNS: readonly Status[] = ['open', 'in_progress', 'resolved', 'wont_fix']
const SHOWN = 50

export function Board({
  orders,
  addressOf,
  about,
}: {
  readonly orders: readonly WorkOrder[]
  readonly addressOf: (order: WorkOrder) => string
  readonly about: About
}) {
  return (
    <section
      aria-label="Board"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard
      tabIndex={0}
      className="grid min-h-0 flex-1 gap-4 overflow-auto pb-4 sm:grid-cols-2 lg:grid-cols-4"
    >
      {COLUMNS.map((status) => {
        const its = orders.filter(({ state }) => state.status === status)
        const [look, word] = ORDER_LOOKS[status]
        return (
          <section key={status} aria-label={word} className="min-w-0">
            <h2 className="flex items-baseline justify-between border-b border-line pb-1 text-sm">
              <StateMark state={look} word={word} />
              <span className="text-dim">{count(its.length)}</span>
            </h2>
            <ul>
              {its.slice(0, SHOWN).map((order) => (
                <li key={order.id} className="border-b border-line py-1.5">
                  <Link to={addressOf(order)} className="block hover:bg-sunken">
                    <span className="flex items-baseline gap-2">
                      <bdi className="min-w-0 flex-1 truncate font-semibold">{order.action}</bdi>
                      {(order.severity === 'critical' || order.severity === 'high') && (
                        <span className="text-sm whitespace-nowrap text-dead">
                          <span aria-hidden="true">{SEVERITY_SHAPES[order.severity]}</span>
                          {order.severity}
                        </span>
                      )}
                    </span>
                    <bdi className="block truncate">{about(order)}</bdi>
                    <span className="flex gap-2 text-sm text-dim">
                      <bdi className="min-w-0 flex-1 truncate">{order.owner ?? 'nobody'}</bdi>
                      <Ago at={order.openedAt} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            {its.length > SHOWN && (
              <p className="py-1 text-sm text-dim">and {count(its.length - SHOWN)} more: see the list</p>
            )}
          </section>
        )
      })}
    </section>
  )
}

// Deliveries of webhooks and channels, as a list and as what came of a test.

import type { OperationOutput } from '@reprise/client'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import type { Output } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

type Delivery = OperationOutput<'testWebhook'>

/** What the other side said last; where it said nothing by a status, in words. */
const outcomeOf = ({ log }: Delivery): string => {
  const last = log.at(-1)
  return last === undefined ? '' : (last.error ?? (last.status === null ? last.answer : `HTTP ${last.status}`))
}

export const deliveryColumns = (now: number): readonly Column<Delivery>[] => [
  { title: 'DELIVERY', value: ({ id }) => id, flexible: true },
  { title: 'STATUS', value: ({ status }) => status.replace('_', ' ') },
  { title: 'TRIES', value: ({ tries }) => tries, right: true },
  { title: 'NEXT', value: ({ nextAt }) => relativeTime(nextAt, now) },
  { title: 'EVENT', value: ({ type }) => type, flexible: true },
  { title: 'LAST ANSWER', value: outcomeOf, flexible: true },
]

export function tellTest(output: Output, delivery: Delivery): ExitCode {
  const hasArrived = delivery.status === 'delivered'
  const outcome = plain(outcomeOf(delivery))
  output.one(delivery, ({ line }) => line(`${hasArrived ? 'It arrives' : 'It does not arrive'}: ${outcome}`))
  return hasArrived ? EXIT.ok : EXIT.error
}

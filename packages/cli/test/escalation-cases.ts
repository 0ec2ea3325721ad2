// What the commands about work orders, alerts and channels are tried with.

import { alertId } from '@reprise/core'
import { OPERATIONS } from '@reprise/operations'
import { z } from 'zod'
import type { CommandCase } from './command-cases.ts'
import { REFUSE } from './server-and-store.ts'

const alertOf = (group: string): string =>
  alertId('dead_letters', { workOrder: `wo-${group}`, fingerprint: group, action: REFUSE })

/** Not empty, and all as the operation has them. */
const some = ({ output }: { readonly output: { readonly shape: { readonly items: z.ZodType } } }): z.ZodType =>
  z.array(z.unknown()).min(1).and(output.shape.items)

export const escalationReads = (group: string): readonly CommandCase[] => [
  { argv: ['workorders', '-o', 'json'], json: some(OPERATIONS.listWorkOrders) },
  { argv: ['workorders', 'list', '--status', 'resolved', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['workorders', 'show', group, '-o', 'json'], json: OPERATIONS.getWorkOrder.output },
  {
    argv: ['workorders', 'show', `wo-${group}`],
    text: /state +open\n[\s\S]*dead now +2\n[\s\S]*payload: [\s\S]*attempt \d: failed on [\s\S]*workers: [\s\S]*redrive start --fingerprint \w+ --reason '…'/,
  },
  { argv: ['workorders', 'show', 'wo-none'], exit: 3, says: /There is no work order/ },
  { argv: ['workorders', 'comment', `wo-${group}`], exit: 2, says: /Give a comment/ },
  { argv: ['workorders', 'take'], exit: 2, says: /Which workorder/ },
  { argv: ['workorders', 'figures', '-o', 'json'], json: OPERATIONS.measureWorkOrders.output },
  { argv: ['workorders', 'figures', '--window', '7d'], text: /tracked +\d+ of \d+ causes/ },
  { argv: ['workorders', 'finish'], exit: 2, says: /can not 'finish'/ },
  { argv: ['groups', 'notify', group], exit: 2, says: /What are they told/ },
  { argv: ['alerts', '-o', 'json'], json: some(OPERATIONS.listAlerts) },
  { argv: ['alerts', 'list', '--status', 'resolved', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['alerts', 'show', alertOf(group), '-o', 'json'], json: OPERATIONS.getAlert.output },
  { argv: ['alerts', 'show', alertOf(group)], text: /state +firing\n/ },
  { argv: ['alerts', 'show', 'al-none'], exit: 3, says: /There is no alert/ },
  { argv: ['alerts', 'ack'], exit: 2, says: /Which alert/ },
  { argv: ['alerts', 'fire'], exit: 2, says: /can not 'fire'/ },
  { argv: ['alerts', 'silence', alertOf(group)], exit: 2, says: /For how long/ },
  { argv: ['alerts', 'silence', 'rule', '--for', '1h'], exit: 3, says: /There is no alert/ },
  { argv: ['alerts', 'rules', '-o', 'json'], json: some(OPERATIONS.listAlertRules) },
  { argv: ['alerts', 'silences', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['alerts', 'export'], text: /^groups:\n {2}- name: reprise\n[\s\S]*RepriseRetryRateCritical/m },
  { argv: ['alerts', 'rule', 'x'], exit: 2, says: /Which figure/ },
  { argv: ['alerts', 'rule', 'x', '--metric', 'queued', '--above', 'many'], exit: 2, says: /takes a number/ },
  { argv: ['alerts', 'test', 'nobody'], exit: 3, says: /There is no channel/ },
  { argv: ['channels', '-o', 'json'], json: z.array(z.never()) },
  { argv: ['channels', 'create', 'x'], exit: 2, says: /Which kind/ },
  { argv: ['channels', 'create', 'x', '--kind', 'slack'], exit: 2, says: /settings of this channel/ },
  { argv: ['channels', 'create', 'x', '--kind', 'slack', '--set', 'url=@none'], exit: 2, says: /can't be read/ },
  { argv: ['channels', 'update', 'nobody', '--quiet-hours', 'at night'], exit: 2, says: /hours and a time zone/ },
  { argv: ['channels', 'remove', 'nobody'], exit: 3, says: /There is no channel/ },
]

export const escalationChanges = (group: string): readonly CommandCase[] => [
  { argv: ['workorders', 'take', group, '--owner', 'team:mail'], text: /is in progress \(team:mail\)/ },
  { argv: ['workorders', 'comment', group, 'asked', 'them', '-o', 'json'], json: OPERATIONS.commentWorkOrder.output },
  { argv: ['workorders', 'resolve', group, 'they are back'], text: /is resolved \(team:mail\)/ },
  { argv: ['workorders', 'reopen', group], text: /is open \(team:mail\)/ },
  { argv: ['groups', 'notify', group, 'we', 'are', 'on', 'it'], text: /\d tenants? w(?:as|ere) told/ },
  { argv: ['alerts', 'ack', alertOf(group)], text: /is acknowledged \(/ },
  { argv: ['alerts', 'silence', alertOf(group), '--for', '2h'], text: /Quiet for 2h: .*rule=dead_letters/ },
  { argv: ['alerts', 'silences', '-o', 'json'], json: some(OPERATIONS.listSilences) },
  { argv: ['alerts', 'rule', 'retry_rate', '--above', '0.4', '-o', 'json'], json: OPERATIONS.putAlertRule.output },
  { argv: ['alerts', 'rule', 'retry_rate', '--off'], text: /is set: off/ },
  { argv: ['alerts', 'unrule', 'retry_rate'], text: /is gone/ },
  {
    argv: ['channels', 'create', 'them', '--kind', 'tenants', '--set', 'perHour=1', '--after', '5m', '-o', 'json'],
    json: OPERATIONS.createChannel.output,
  },
  { argv: ['channels', 'update', 'them', '--quiet-hours', '22:00-07:00@UTC', '--rules', 'dead_*'], text: /is on/ },
  { argv: ['channels', 'disable', 'them'], text: /is off/ },
  { argv: ['channels', 'test', 'them'], text: /It arrives: / },
  {
    argv: ['channels', 'deliveries', 'them', '-o', 'json'],
    json: some(OPERATIONS.listChannelDeliveries),
  },
  { argv: ['channels', 'remove', 'them'], text: /is gone/ },
  {
    argv: ['channels', 'create', 'tickets', '--kind', 'work_orders', '--set', 'url=https://127.0.0.1:9'],
    exit: 2,
    says: /not a public one/,
  },
]

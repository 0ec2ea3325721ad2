// The pages that `npm run test:console` opens, each with something that shows that it has its data.

import { vi } from 'vitest'
import type { Shop } from './shop.ts'

export interface TriedPage {
  readonly name: string
  readonly path: (shop: Shop) => Promise<string> | string
  /** A text that is there once the page is. */
  readonly shows: string | RegExp
  /** Only for who may change something. */
  readonly isChange?: true
}

async function causePath({ client }: Shop): Promise<string> {
  const { items } = await client.listFailureGroups({ order: 'count' })
  return `/failures/${items[0]?.fingerprint}`
}

async function taskPath({ client }: Shop): Promise<string> {
  const { items } = await client.listTasks({ q: 'status:dead', limit: 1 })
  return `/tasks/${items[0]?.id}`
}

async function entryPath({ client }: Shop): Promise<string> {
  const { items } = await client.listEvents({ type: 'execution.failed', newest: true, limit: 100 })
  return `/journal?entry=${items[0]?.id}`
}

async function orderPath({ client }: Shop): Promise<string> {
  const { items } = await client.listWorkOrders({})
  return `/work-orders/${items[0]?.id}`
}

async function jobPath({ client }: Shop): Promise<string> {
  const { id } = await client.startJob({ id: 'book', action: 'page.render', range: { to: 400 } })
  return `/jobs/${id}`
}

/** Dead letters make a work order, and that an alert, in some seconds. */
async function alertPath({ client }: Shop): Promise<string> {
  const fired = async () => (await client.listAlerts({})).items[0]?.id
  return `/alerts?alert=${await vi.waitUntil(fired, { timeout: 30_000, interval: 100 })}`
}

async function channelPath({ client }: Shop): Promise<string> {
  const { items } = await client.listChannels({})
  const settings = { url: 'https://8.8.8.8/in' }
  if (items.length === 0) await client.createChannel({ name: 'chat', kind: 'webhook', settings })
  return '/alerts?tab=channels&channel=chat'
}

async function runPath({ client }: Shop): Promise<string> {
  const { items } = await client.listRunbookRuns({})
  const inputs = { action: 'order.confirm', query: 'label:region=nowhere' }
  const start = () => client.startRunbook({ name: 'poison-pill-quarantine', inputs, reason: 'they crash workers' })
  return `/runbooks/runs/${(items[0] ?? (await start())).id}`
}

async function webhookPath({ client }: Shop): Promise<string> {
  const { items } = await client.listWebhooks()
  const url = 'https://8.8.8.8/in'
  const id = items[0]?.id ?? (await client.createWebhook({ url, types: ['reprise.breaker.*'] })).webhook.id
  return `/settings?tab=webhooks&webhook=${id}`
}

export const TRIED_PAGES: readonly TriedPage[] = [
  { name: 'Now', path: () => '/', shows: '✓ adds up' },
  { name: 'Failures', path: () => '/failures', shows: 'connect ECONNREFUSED billing:443' },
  { name: 'Failures, none', path: () => '/failures?q=tenant:nobody', shows: 'No cause is like that.' },
  { name: 'A cause', path: causePath, shows: 'Who is hit' },
  {
    name: 'Redrive sheet',
    path: async (shop) => `${await causePath(shop)}?sheet=redrive`,
    shows: 'Check what would happen',
    isChange: true,
  },
  { name: 'Alerts', path: () => '/alerts', shows: /alerts? fires?/ },
  { name: 'an alert', path: alertPath, shows: 'What it stands on' },
  { name: 'Alerts, resolved', path: () => '/alerts?tab=past', shows: 'No alert has been resolved yet.' },
  { name: 'Alerts, silences', path: () => '/alerts?tab=silences', shows: 'Nothing is silenced.' },
  {
    name: 'Alerts, a new silence',
    path: () => '/alerts?tab=silences&sheet=silence',
    shows: 'How long',
    isChange: true,
  },
  { name: 'Alerts, rules', path: () => '/alerts?tab=rules', shows: 'retry_failure_rate' },
  { name: 'Alerts, a rule', path: () => '/alerts?tab=rules&rule=retry_rate', shows: 'not told after' },
  { name: 'Alerts, a new rule', path: () => '/alerts?tab=rules&sheet=rule', shows: 'Fires above', isChange: true },
  { name: 'Alerts, channels', path: () => '/alerts?tab=channels', shows: 'Nobody is told of alerts.' },
  { name: 'Alerts, a channel', path: channelPath, shows: 'What it was told' },
  { name: 'Alerts, a new channel', path: () => '/alerts?tab=channels&sheet=channel', shows: 'Make it', isChange: true },
  { name: 'Tasks', path: () => '/tasks', shows: 'order.confirm' },
  { name: 'Tasks, a wrong query', path: () => '/tasks?q=status:nothing', shows: /At character/ },
  { name: 'A task', path: taskPath, shows: 'Timeline' },
  { name: 'A task, why not', path: async (shop) => `${await taskPath(shop)}?tab=explain`, shows: 'What holds it' },
  { name: 'Redrives', path: () => '/redrives', shows: /redriven yet|under way/ },
  { name: 'Lanes', path: () => '/lanes', shows: 'invoice.render' },
  { name: 'a lane', path: () => '/lanes?lane=default/order.confirm/acme', shows: 'The last hour' },
  { name: 'Pools', path: () => '/lanes?list=pools', shows: 'To start' },
  { name: 'Tenants', path: () => '/lanes?list=tenants', shows: 'blue' },
  { name: 'Workers', path: () => '/workers', shows: /No worker is here/ },
  { name: 'workers that left', path: () => '/workers?list=left', shows: 'shop-2' },
  { name: 'Breakers', path: () => '/breakers', shows: /dependency:|action:|No breaker holds/ },
  { name: 'Work orders', path: () => '/work-orders', shows: 'order.confirm' },
  { name: 'Work orders, board', path: () => '/work-orders?view=board', shows: 'order.confirm' },
  { name: 'Work orders, none', path: () => '/work-orders?status=wont_fix', shows: 'No work order is like that.' },
  { name: 'a work order', path: orderPath, shows: 'What is known' },
  { name: 'Runbooks', path: () => '/runbooks', shows: 'Replay after an outage' },
  { name: 'Runs, none', path: () => '/runbooks?tab=open', shows: 'No run is under way.' },
  { name: 'a runbook', path: () => '/runbooks/bad-payload-fix', shows: 'As it is written' },
  { name: 'a runbook to run', path: () => '/runbooks/bad-payload-fix?sheet=run', shows: 'Dry run:', isChange: true },
  { name: 'a run', path: runPath, shows: 'It asks whether it may begin.' },
  { name: 'Runs', path: () => '/runbooks?tab=runs', shows: 'Put poison tasks in quarantine' },
  { name: 'Jobs', path: () => '/jobs', shows: 'There is no job yet.' },
  { name: 'a job', path: jobPath, shows: 'What it is' },
  { name: 'Settings', path: () => '/settings', shows: 'Server and store' },
  {
    name: 'Settings, tokens',
    path: () => '/settings?tab=tokens',
    shows: /the secrets of none are kept|No program comes in/,
  },
  { name: 'Settings, a new token', path: () => '/settings?tab=tokens&sheet=token', shows: 'Make it' },
  { name: 'Settings, sessions', path: () => '/settings?tab=sessions', shows: 'Sign out …' },
  { name: 'Settings, webhooks', path: () => '/settings?tab=webhooks', shows: 'Nobody is told of anything.' },
  { name: 'a webhook', path: webhookPath, shows: 'Nothing was sent to it yet.' },
  { name: 'Settings, flags', path: () => '/settings?tab=flags', shows: 'task-retry-queue' },
  { name: 'Settings, retention', path: () => '/settings?tab=retention', shows: 'figures by the minute' },
  { name: 'Settings, rights', path: () => '/settings?tab=rights', shows: 'What each role may do' },
  { name: 'Policies', path: () => '/policies', shows: 'everything' },
  {
    name: 'Policies, tried out',
    path: () => '/policies?action=order.confirm&code=ECONNRESET&replay=1',
    shows: /Dead after|Dead at once/,
  },
  { name: 'Policies, history', path: () => '/policies?tab=history', shows: /There is no version yet|Reason/ },
  { name: 'Policies, templates', path: () => '/policies?tab=templates', shows: 'Fits most' },
  { name: 'Journal', path: () => '/journal', shows: 'execution.failed' },
  { name: 'Journal, nothing', path: () => '/journal?actor=nobody', shows: 'The journal has nothing like that.' },
  { name: 'an entry', path: entryPath, shows: 'all of its entries' },
  { name: 'Incidents', path: () => '/incidents', shows: /attempts failed of \d causes/ },
  {
    name: 'Incidents, none',
    path: () => '/incidents?until=2020-01-02T00:00:00Z&since=2020-01-01T00:00:00Z',
    shows: 'Nothing like that happened',
  },
  { name: 'Incidents, as Markdown', path: () => '/incidents?sheet=export', shows: 'First failure:' },
  { name: 'Audit', path: () => '/audit', shows: /Operation|Nobody did anything/ },
  { name: 'no such page', path: () => '/nothing', shows: 'There is no page at this address.' },
]

// The pages that `npm run test:console` opens, each with something that shows that it has its data.

import type { Shop } from './shop.ts'

export interface TriedPage {
  readonly name: string
  readonly path: (shop: Shop) => Promise<string> | string
  /** A text that is there once the page is. */
  readonly shows: string | RegExp
}

export const TRIED_PAGES: readonly TriedPage[] = [
  { name: 'Now', path: () => '/', shows: '✓ adds up' },
  { name: 'Lanes', path: () => '/lanes', shows: 'invoice.render' },
  { name: 'a lane', path: () => '/lanes?lane=default/order.confirm/acme', shows: 'The last hour' },
  { name: 'Pools', path: () => '/lanes?list=pools', shows: 'How that is known' },
  { name: 'Tenants', path: () => '/lanes?list=tenants', shows: 'blue' },
  { name: 'Workers', path: () => '/workers', shows: /No worker is here/ },
  { name: 'workers that left', path: () => '/workers?list=left', shows: 'shop-2' },
  { name: 'Breakers', path: () => '/breakers', shows: /dependency:|action:|No breaker holds/ },
  { name: 'no such page', path: () => '/nothing', shows: 'There is no page at this address.' },
]

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
  { name: 'no such page', path: () => '/nothing', shows: 'There is no page at this address.' },
]

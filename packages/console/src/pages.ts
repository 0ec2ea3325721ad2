// Every page of the console, in the order of the navigation. A new page is an entry here and a file under pages/ with one
// component: docs/console.md says how.

import type { ComponentType } from 'react'
import type { Scope } from './api/me.ts'

export interface PageEntry {
  /** With `$name` for parts that vary. */
  readonly path: string
  readonly title: string
  /** What it answers, for the palette and the page's title. */
  readonly question: string
  /** Typed after `g`. Missing for pages that are reached from others. */
  readonly key?: string
  /** Drawn in a box of 16 by 16. Pages without one are not in the navigation. */
  readonly icon?: string
  /** Beside `read`. */
  readonly needs?: Scope
  /** `all` if its operations are about every tenant: who is limited to some does not see it. */
  readonly tenants?: 'all'
  /** Among the five at the bottom of a phone. */
  readonly isMain?: boolean
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Now',
    question: 'Is all well? If not, what and since when?',
    key: 'n',
    icon: 'M1 9h3l2-6 4 11 2-5h3',
    isMain: true,
    load: () => import('./pages/now/now-page.tsx'),
  },
]

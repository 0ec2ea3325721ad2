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
  {
    path: '/failures',
    title: 'Failures',
    question: 'What is broken, since when, and who is on it?',
    key: 'f',
    icon: 'M8 2l6.5 12h-13zM8 6.5v3.5M8 12v.2',
    isMain: true,
    load: () => import('./pages/failures/failures-page.tsx'),
  },
  {
    path: '/failures/$fingerprint',
    title: 'Cause',
    question: 'What is different about these failures?',
    load: () => import('./pages/failures/cause-page.tsx'),
  },
  {
    path: '/alerts',
    title: 'Alerts',
    question: 'What fires, who is at it, and who is told?',
    key: 'a',
    icon: 'M8 1.5a4.5 4.5 0 0 0-4.5 4.5c0 4-1.5 5-1.5 5h12s-1.5-1-1.5-5A4.5 4.5 0 0 0 8 1.5M6.5 13.5a1.5 1.5 0 0 0 3 0',
    isMain: true,
    tenants: 'all',
    load: () => import('./pages/alerts/alerts-page.tsx'),
  },
  {
    path: '/tasks',
    title: 'Tasks',
    question: 'Which tasks are like this?',
    key: 't',
    icon: 'M2 4h12M2 8h12M2 12h8',
    isMain: true,
    load: () => import('./pages/tasks/tasks-page.tsx'),
  },
  {
    path: '/tasks/$id',
    title: 'Task',
    question: 'What happened to this task, and why does it not run?',
    load: () => import('./pages/task/task-page.tsx'),
  },
  {
    path: '/redrives',
    title: 'Redrives',
    question: 'What was sent back to work, and what came of it?',
    key: 'r',
    icon: 'M13 8a5 5 0 1 1-1.5-3.6M12 1.5v3h-3',
    load: () => import('./pages/redrive/redrives-page.tsx'),
  },
  {
    path: '/redrives/$id',
    title: 'Redrive',
    question: 'How far is this redrive?',
    load: () => import('./pages/redrive/redrive-page.tsx'),
  },
  {
    path: '/lanes',
    title: 'Lanes',
    question: 'What waits where, what holds it, and who set that?',
    key: 'l',
    icon: 'M1 4h9M1 8h14M1 12h6M13 3v2M10 11v2',
    load: () => import('./pages/lanes/lanes-page.tsx'),
  },
  {
    path: '/workers',
    title: 'Workers',
    question: 'Who works, how is each one, and what does it run?',
    key: 'w',
    icon: 'M4 4h8v8H4zM6 1v3M10 1v3M6 12v3M10 12v3M1 6h3M1 10h3M12 6h3M12 10h3',
    tenants: 'all',
    load: () => import('./pages/workers/workers-page.tsx'),
  },
  {
    path: '/breakers',
    title: 'Breakers',
    question: 'What is held because something it needs is down?',
    key: 'b',
    icon: 'M1 11h4l6-6M11 11h4M5 11a1 1 0 1 0 0-.1',
    load: () => import('./pages/breakers/breakers-page.tsx'),
  },
  {
    path: '/work-orders',
    title: 'Work orders',
    question: 'What waits for a person, and who is on it?',
    key: 'o',
    icon: 'M5.5 2.5h-3v12h11v-12h-3M5.5 1.5h5v2.5h-5zM5 9l2 2 4-4',
    tenants: 'all',
    load: () => import('./pages/work-orders/work-orders-page.tsx'),
  },
  {
    path: '/work-orders/$id',
    title: 'Work order',
    question: 'What does its person need to know?',
    tenants: 'all',
    load: () => import('./pages/work-orders/work-order-page.tsx'),
  },
  {
    path: '/runbooks',
    title: 'Runbooks',
    question: 'What helps, how often did it, and which run asks something?',
    key: 'h',
    icon: 'M2.5 2.5h5v11h-5zM7.5 2.5h6v11h-6M9.5 6h2.5M9.5 8.5h2.5M4 5l1 1M4 8l1 1',
    tenants: 'all',
    load: () => import('./pages/runbooks/runbooks-page.tsx'),
  },
  {
    path: '/runbooks/$name',
    title: 'Runbook',
    question: 'What does it do, and did it help?',
    tenants: 'all',
    load: () => import('./pages/runbooks/runbook-page.tsx'),
  },
  {
    path: '/runbooks/runs/$id',
    title: 'Run of a runbook',
    question: 'How far is it, what came of each step, and what does it ask?',
    tenants: 'all',
    load: () => import('./pages/runbooks/run-page.tsx'),
  },
  {
    path: '/jobs',
    title: 'Jobs',
    question: 'Which jobs are under way, how far are they, and what stopped them?',
    key: 'c',
    icon: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9.5 9.5l4 4M13.5 9.5l-4 4',
    load: () => import('./pages/jobs/jobs-page.tsx'),
  },
  {
    path: '/jobs/$id',
    title: 'Job',
    question: 'How far is this job, and what failed in it?',
    load: () => import('./pages/jobs/job-page.tsx'),
  },
  {
    path: '/policies',
    title: 'Policies',
    question: 'What is done with failures, and what would another text do?',
    key: 'p',
    icon: 'M8 1.5l5.5 2v4.5c0 3.5-2.5 5.5-5.5 6.5-3-1-5.5-3-5.5-6.5v-4.5zM5.5 8l2 2 3.5-4',
    tenants: 'all',
    load: () => import('./pages/policies/policies-page.tsx'),
  },
  {
    path: '/journal',
    title: 'Journal',
    question: 'What happened, who did what, and why?',
    key: 'e',
    icon: 'M3 1.5h8.5L13 3v11.5H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
    load: () => import('./pages/journal/journal-page.tsx'),
  },
  {
    path: '/incidents',
    title: 'Incidents',
    question: 'What happened in this time, and what came before it?',
    key: 'i',
    icon: 'M1.5 8h13M4 8V4.5M8 8V2M12 8V5.5M6 8v4M10 8v5.5',
    tenants: 'all',
    load: () => import('./pages/incidents/incidents-page.tsx'),
  },
  {
    path: '/audit',
    title: 'Audit',
    question: 'Who did what, what did it change, and is the record whole?',
    key: 'u',
    icon: 'M3 7h10v7H3zM5 7V4.5a3 3 0 0 1 6 0V7M8 10v1.5',
    tenants: 'all',
    load: () => import('./pages/audit/audit-page.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    question: 'Who and what may come in, where do events go, and how are the parts?',
    key: 's',
    icon: 'M2 4h6M11 4h3M9.5 2.5v3M2 8h2M7 8h7M5.5 6.5v3M2 12h8M13 12h1M11.5 10.5v3',
    load: () => import('./pages/settings/settings-page.tsx'),
  },
]

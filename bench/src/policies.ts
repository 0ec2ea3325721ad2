// The policies that Reprise runs under while it is measured: more of them than most will have, and the one that counts comes
// last, so that what they cost is in every figure.

import type { PolicyBook, PolicySource } from '@reprise/worker'

const UNUSED_POLICIES = 20

const BOOK: PolicyBook = {
  version: 1,
  policies: [
    ...Array.from({ length: UNUSED_POLICIES }, (_, index) => ({
      name: `other-${index}`,
      match: { actions: [`billing.${index}.*`], tenants: ['acme', `tenant-${index}`] },
      retries: 5,
    })),
    { name: 'everything-else', match: {}, maxLosses: 3 },
  ],
  rules: [
    { when: { code: ['STRIPE_*'] }, verdict: { reason: 'rate_limited' } },
    { when: { status: ['520-524'] }, verdict: { reason: 'connection' } },
    { when: { message: '(deadlock|lock wait timeout)( found)?' }, verdict: { reason: 'transient' } },
    { when: { message: 'invalid (email|phone|vat) .*\\d+$' }, verdict: { reason: 'validation' } },
  ],
}

/** The measured action: it has a breaker and a quota, which nothing of what is measured exceeds. */
export const MEASURED = {
  name: 'bench',
  uses: ['payments'],
  retryQuota: { window: '1m', limit: 1_000_000 },
} as const

export const POLICIES: PolicySource = { current: () => BOOK }

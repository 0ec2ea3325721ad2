// Policies to start from: a policy that names one has all it sets, and overrides it field by field.

import { DEFAULT_BACKOFF, DEFAULT_BREAKER, type Policy } from '@reprise/core'

export type PolicySettings = Omit<Policy, 'name' | 'match'>

export const TEMPLATES = {
  /** What fits most: three retries over a few seconds. */
  default: { retries: 3, backoff: DEFAULT_BACKOFF },

  /** For work that may take its time and should not be lost to a bad day: retries over about 20 hours, and a breaker. */
  patient: {
    retries: 20,
    maxLosses: 5,
    backoff: { kind: 'exponential', baseMs: 5_000, multiplier: 2, maxMs: 7_200_000, jitter: 0.2 },
    breaker: DEFAULT_BREAKER,
  },

  /** For work that somebody waits for: quick retries, no long waits, and a person hears of it soon. */
  urgent: {
    retries: 5,
    backoff: { kind: 'exponential', baseMs: 200, multiplier: 2, maxMs: 5_000, jitter: 0.2 },
    retryAfter: { minMs: 0, maxMs: 15_000 },
    escalation: { severity: 'high' },
  },

  /** For work that must not happen twice by itself: whatever goes wrong is left to a person. */
  never: { retries: 0, maxLosses: 0, retryUnknown: false, breaker: 'off', onLost: 'hold' },
} as const satisfies Readonly<Record<string, PolicySettings>>

export type TemplateName = keyof typeof TEMPLATES
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly TemplateName[]

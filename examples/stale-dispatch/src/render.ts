// What all processes of the example share: the action, and how long a silent worker counts as alive (D1).

import { DEFAULT_HEALTH_THRESHOLDS } from '@reprise/core'
import { defineAction } from '@reprise/worker'

/** 30 s if nothing is said; an example should not take that long. All processes of a store say the same. */
export const LIVENESS = { healthThresholds: { ...DEFAULT_HEALTH_THRESHOLDS, heartbeatStaleMs: 4_000 } }

export const renderOn = (worker: string) =>
  defineAction({ name: 'render', pool: 'gpu', run: (scene: string) => `${scene}.png by ${worker}` })

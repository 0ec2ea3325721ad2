// reprise scaling: how many workers each pool would need now (C9).

import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { showRows } from '../command/rows.ts'
import { WATCH } from '../command/shared-options.ts'
import { shortSpan } from '../output/times.ts'

const SLOTS_MAX = 100_000

export const scaling: CommandDefinition = {
  path: ['scaling'],
  group: 'Operate',
  summary: 'Say how many workers each pool would need',
  details:
    'Says for each pool how many slots, and workers, would start all tasks within the target time now, and shows the calculation. It scales nothing itself.',
  options: [
    { flags: '--pool <pool>', about: 'Only this pool' },
    { flags: '--target-wait <duration>', about: 'How long a task may wait before it starts; 10s if not given' },
    { flags: '--slots-per-worker <count>', about: 'What one worker runs at once' },
    { flags: '--duration <duration>', about: 'How long one attempt takes, if the figures do not say it' },
    WATCH,
  ],
  examples: [
    ['reprise scaling --target-wait 5s --slots-per-worker 10', 'How many workers?'],
    ["reprise scaling --pool render -o json | jq '.[0].workers'", 'For an autoscaler'],
  ],
  async run(invocation) {
    const { api, options } = invocation
    const input = {
      ...options.given('pool'),
      ...present({
        slotsPerWorker: options.whole('slots-per-worker', 1, SLOTS_MAX),
        targetWait: options.durationMs('target-wait'),
        duration: options.durationMs('duration'),
      }),
    }
    return showRows(invocation, {
      read: async () => (await api.scaling(input)).items,
      key: ({ pool }) => pool,
      columns: () => [
        { title: 'POOL', value: ({ pool }) => pool },
        { title: 'NEEDS', value: ({ workers }) => workers ?? '?', right: true },
        { title: 'HAS', value: ({ workersNow }) => workersNow, right: true },
        { title: 'SLOTS', value: ({ slots }) => slots ?? '?', right: true },
        { title: 'DEPTH', value: ({ numbers }) => numbers.depth, right: true },
        { title: 'WAIT', value: ({ numbers }) => shortSpan(numbers.targetWaitMs), right: true },
        { title: 'BECAUSE', value: ({ sum }) => sum, flexible: true, wraps: true },
      ],
      none: 'There is no pool yet: no worker and no task names one.',
    })
  },
}

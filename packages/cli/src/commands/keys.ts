// reprise key list and rotate: the keys that the store keeps, without their secrets.

import type { OperationInput, OperationOutput } from '@reprise/client'
import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { REASON, reasonOf } from '../command/shared-options.ts'
import { relativeTime } from '../output/times.ts'

export const keyList: CommandDefinition = {
  path: ['key', 'list'],
  group: 'Set up',
  summary: 'List the keys of the store, without their secrets',
  examples: [
    ['reprise key list', 'Which keys sign and verify?'],
    ['reprise key list -o json', 'For a program'],
  ],
  async run(invocation) {
    show(invocation, (await invocation.api.listKeys({})).items)
  },
}

type RotateRequest = OperationInput<'rotateKeys'>

export const keyRotate: CommandDefinition = {
  path: ['key', 'rotate'],
  group: 'Set up',
  summary: 'Make a new key',
  details:
    'Makes a new key. It comes into force after a minute, when every process knows it. The keys before it still verify for a while, so running workers and the tokens you gave out still work. If a key was stolen, give --keep 0s: leases that workers hold then end as lost.',
  arguments: [{ name: '<ring>', about: 'lease-credentials or seals; see key list' }],
  options: [{ flags: '--keep <duration>', about: 'How long the keys before it still verify; 7d if not given' }, REASON],
  examples: [
    ['reprise key rotate lease-credentials --reason "once a year"', 'Nothing stops'],
    ['reprise key rotate lease-credentials --keep 0s', 'The key was stolen'],
  ],
  async run(invocation) {
    const { options } = invocation
    const [ring = ''] = invocation.arguments
    const { items: keys } = await invocation.api.rotateKeys({
      // Which rings there are is for the operation to say.
      ring: ring as RotateRequest['ring'],
      ...present({ keep: options.durationMs('keep') }),
      ...reasonOf(options),
    })
    show(invocation, keys)
  },
}

function show({ output, host }: Invocation, keys: OperationOutput<'listKeys'>['items']): void {
  const now = host.clock.now()
  output.list(
    keys,
    [
      { title: 'RING', value: ({ ring }) => ring },
      { title: 'KEY', value: ({ id }) => id },
      { title: 'SIGNS', value: ({ from }) => (from > now ? relativeTime(from, now) : 'since it was made') },
      { title: 'VERIFIES', value: ({ until }) => (until === null ? 'for ever' : `until ${relativeTime(until, now)}`) },
    ],
    'There is no key.',
  )
}

// reprise queue: the outside queue by which tasks come in, its dead letters, and messages that nobody could read.

import type { CommandDefinition } from '../command/definition.ts'
import { showList, showRows } from '../command/rows.ts'
import { LIMIT, REASON, reasonOf } from '../command/shared-options.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'

const group = 'Operate'
/** What one call moves; the command goes on until it has moved enough. */
const MOVED_AT_ONCE = 100
const REDRIVE_MAX = 1_000_000
const SHOWN_MAX = 100

export const queueShow: CommandDefinition = {
  path: ['queue', 'show'],
  group,
  summary: 'Show the SQS queue and its dead-letter queue',
  details:
    'Shows how many messages are in the queue and in its dead-letter queue, as SQS counts them: SQS does not count exactly.',
  options: [{ flags: '-w, --watch', about: 'Keep looking, until interrupted' }],
  examples: [
    ['reprise queue show', 'Does it grow?'],
    ['reprise queue show -o json', 'For a program'],
  ],
  async run(invocation) {
    const read = async () => {
      const { deadLetters, outbox, ...queue } = await invocation.api.showQueue({})
      if (outbox.unsent > 0) {
        const { unsent, refused } = outbox
        invocation.output.note(`${unsent} retries wait in the store to be sent; the queue refused ${refused} of them.`)
      }
      return [
        { ...queue, kind: queue.isFifo ? 'FIFO' : 'standard' },
        ...(deadLetters === null ? [] : [deadLetters]),
      ].map((one) => ({ kind: 'dead letters', ...one }))
    }
    return showRows(invocation, {
      read,
      key: ({ name }) => name,
      columns: () => [
        { title: 'QUEUE', value: ({ name }) => name, flexible: true },
        { title: 'IS', value: ({ kind }) => kind },
        { title: 'VISIBLE', value: ({ visible }) => visible, right: true },
        { title: 'IN FLIGHT', value: ({ inFlight }) => inFlight, right: true },
        { title: 'DELAYED', value: ({ delayed }) => delayed, right: true },
      ],
      none: 'There is no queue.',
    })
  },
}

export const queueDeadLetters: CommandDefinition = {
  path: ['queue', 'dead-letters'],
  group,
  summary: "Look at messages in the queue's dead-letter queue",
  details:
    'Shows some messages that the queue gave up, because it delivered them too often and nobody took them. They are hidden from other readers for a moment.',
  options: [{ flags: '-n, --limit <count>', about: `At most this many, up to ${SHOWN_MAX}; 10 if not given` }],
  examples: [['reprise queue dead-letters', 'What could not be launched?']],
  async run(invocation) {
    const limit = invocation.options.whole('limit', 1, SHOWN_MAX) ?? 10
    return showRows(invocation, {
      read: async () => (await invocation.api.listQueueDeadLetters({ limit })).items,
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'MESSAGE', value: ({ id }) => id },
        { title: 'SENT', value: ({ sentAt }) => relativeTime(sentAt, now) },
        { title: 'ACTION', value: ({ action }) => action ?? '' },
        { title: 'TASK', value: ({ taskId }) => taskId ?? '', flexible: true },
        { title: 'TEXT', value: ({ head }) => plain(head), flexible: true },
      ],
      none: 'There are no dead letters.',
    })
  },
}

export const queueRedrive: CommandDefinition = {
  path: ['queue', 'redrive'],
  group,
  summary: 'Move dead letters of the queue back to it',
  details:
    'Moves messages from the dead-letter queue back to the queue, all of them if --limit says nothing. A message that was moved twice still runs once. These are messages that never became an attempt; dead letters of the store are for reprise redrive.',
  options: [{ flags: '-n, --limit <count>', about: 'At most this many; all if not given' }, REASON],
  examples: [
    ['reprise queue redrive --limit 1', 'One message, to see whether it runs now'],
    ['reprise queue redrive --reason "the image is there again"', 'All of them'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const most = options.whole('limit', 1, REDRIVE_MAX) ?? REDRIVE_MAX
    let moved = 0
    let isDone = false
    while (!isDone && moved < most) {
      const limit = Math.min(most - moved, MOVED_AT_ONCE)
      const step = await api.redriveQueue({ limit, ...reasonOf(options) })
      moved += step.moved
      isDone = step.isDone
    }
    output.one({ moved }, ({ line }) =>
      line(`${moved} ${moved === 1 ? 'message is' : 'messages are'} in the queue again.`),
    )
  },
}

export const queueKept: CommandDefinition = {
  path: ['queue', 'kept'],
  group,
  summary: 'List messages that nobody could read',
  details:
    'Lists messages that were kept aside: no JSON, no action, or another task under a known id. queue read shows one whole, queue resend sends it to the queue again, queue drop gives it up.',
  options: [LIMIT],
  examples: [['reprise queue kept', 'What did somebody send?']],
  async run(invocation) {
    return showList(invocation, {
      read: invocation.api.listKeptMessages,
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'MESSAGE', value: ({ id }) => id },
        { title: 'KEPT', value: ({ keptAt }) => relativeTime(keptAt, now) },
        { title: 'BECAUSE', value: ({ reason }) => plain(reason), flexible: true },
        { title: 'TEXT', value: ({ head }) => plain(head), flexible: true },
      ],
      none: 'No message was kept aside.',
    })
  },
}

const MESSAGE = [{ name: '<message>', about: 'Its id; see queue kept' }]

export const queueRead: CommandDefinition = {
  path: ['queue', 'read'],
  group,
  summary: 'Show a kept message whole',
  arguments: MESSAGE,
  examples: [['reprise queue read 5fea7756-0ea4-451a-a703-a558b933e274', 'What does it say?']],
  async run({ api, arguments: [id = ''], output }) {
    const kept = await api.getKeptMessage({ id })
    output.one(kept, ({ line }) => {
      line(plain(kept.reason))
      line(plain(kept.text))
    })
  },
}

export const queueResend: CommandDefinition = {
  path: ['queue', 'resend'],
  group,
  summary: 'Send a kept message to the queue again',
  arguments: MESSAGE,
  options: [REASON],
  examples: [['reprise queue resend 5fea7756-0ea4-451a-a703-a558b933e274', 'Once it can be read']],
  async run({ api, arguments: [id = ''], options, output }) {
    const kept = await api.resendKeptMessage({ id, ...reasonOf(options) })
    output.one(kept, ({ line }) => line(`The message ${plain(id)} is in the queue again.`))
  },
}

export const queueDrop: CommandDefinition = {
  path: ['queue', 'drop'],
  group,
  summary: 'Delete a kept message',
  arguments: MESSAGE,
  examples: [['reprise queue drop 5fea7756-0ea4-451a-a703-a558b933e274', 'Nobody needs it']],
  async run({ api, arguments: [id = ''], output }) {
    await api.discardKeptMessage({ id })
    output.one({ id, dropped: true }, ({ line }) => line(`The message ${plain(id)} is gone.`))
  },
}

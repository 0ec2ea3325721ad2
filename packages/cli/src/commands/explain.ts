// reprise explain: why a task is not running now.

import { END_STATUSES } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'
import { gateText } from '../views/gates.ts'
import { deadAdvice, deadText, noteLines, queueRetryText } from '../views/story.ts'

export const explain: CommandDefinition = {
  path: ['explain'],
  group: 'Tasks',
  summary: 'Say why a task is not running',
  details:
    'Says in a sentence why a task is not running now, then lists everything that holds it, and why each worker can or can not take it. For a dead task: the cause, and what you can do.',
  arguments: [{ name: '<id>', about: 'The task' }],
  examples: [
    ['reprise explain 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'What does it wait for?'],
    ["reprise explain 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 -o json | jq '.gates[].kind'", 'For a program'],
  ],
  async run(invocation) {
    const [id = ''] = invocation.arguments
    const { api, output } = invocation
    const explanation = await api.explainTask({ id })
    const isDead = explanation.task.state.status === 'dead'
    const last = isDead ? await api.getExecution({ id, attempt: 'latest' }) : undefined
    output.one(explanation, ({ line, table }) => {
      line(plain(explanation.summary))
      if (explanation.queueRetry !== null) line(`  ${plain(queueRetryText(explanation.queueRetry, output.now()))}`)
      for (const gate of explanation.gates) line(`  held: ${plain(gateText(gate, output.now()))}`)
      if (explanation.nextAt !== null) line(`  next change: ${relativeTime(explanation.nextAt, output.now())}`)
      for (const text of noteLines(explanation.task.notes, output.now())) line(`  ${text}`)
      const { state } = explanation.task
      if (state.status === 'dead') {
        const when = relativeTime(state.at, output.now())
        line(
          `It died ${when}, after attempt ${explanation.task.attempt}: ${deadText(state.reason, last)} What can be done:`,
        )
        for (const text of deadAdvice(explanation.task)) line(text)
      }
      // Who could run it no longer matters once it has ended.
      if (explanation.workers.length === 0 || END_STATUSES.has(state.status)) return
      line()
      table(explanation.workers, [
        { title: 'WORKER', value: ({ worker }) => worker },
        { title: 'VERDICT', value: ({ verdict }) => verdict.replace('_', ' ') },
        { title: 'WHY', value: ({ reasons }) => reasons.join('; '), flexible: true, wraps: true },
      ])
    })
  },
}

// reprise explain: why a task is not running now.

import { END_STATUSES, isRepriseError } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { unlessRefused } from '../command/rows.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'
import { gateText } from '../views/gates.ts'
import { capital, deadText, noteLines, queueRetryText, tellAdvice } from '../views/story.ts'

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
    const alike = last?.failure === undefined || last.failure === null ? 0 : await deadOf(api, last.failure.fingerprint)
    output.one(explanation, (people) => {
      const { line, table, prose, paint } = people
      const { state, action } = explanation.task
      line(`${paint('bold', plain(explanation.task.id))}  ${plain(action)}`)
      prose(plain(explanation.summary))
      if (explanation.queueRetry !== null) {
        prose(plain(queueRetryText(explanation.queueRetry, output.now())), { indent: 2 })
      }
      for (const gate of explanation.gates) prose(`held: ${plain(gateText(gate, output.now()))}`, { indent: 2 })
      if (explanation.nextAt !== null) line(`  next change: ${relativeTime(explanation.nextAt, output.now())}`)
      for (const text of noteLines(explanation.task.notes, output.now())) prose(text, { indent: 2 })
      if (state.status === 'dead') {
        const when = relativeTime(state.at, output.now())
        prose(`It died ${when}, after attempt ${explanation.task.attempt}. ${capital(deadText(state.reason, last))}`)
        if (alike > 1) {
          prose(`${alike} dead letters have this cause: reprise groups show ${state.failure.fingerprint}`)
        }
        tellAdvice(explanation.task, people)
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

/** How many dead letters died of this; 0 for those who may not see it, and if the group is gone meanwhile. */
async function deadOf(api: Invocation['api'], fingerprint: string): Promise<number> {
  try {
    return (await unlessRefused(api.getFailureGroup({ fingerprint })))?.count ?? 0
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_NOT_FOUND')) return 0
    throw error
  }
}

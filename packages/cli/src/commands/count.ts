// reprise count: how many tasks a query finds, in all or by a field.

import { present } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import { askedQuery } from '../tasks/query.ts'

/** What is shown for tasks that have no such value. */
const NONE = '-'

export const count: CommandDefinition = {
  path: ['count'],
  group: 'Tasks',
  summary: 'Count tasks, in all or by a field',
  details:
    'Counts the tasks that a query finds, as for list. --by splits the count by action, tenant, pool, status, reason, code, fingerprint, worker, version, host or label.<name>, the most first. Queries about status, action, tenant and pool alone are answered at once; others look through the tasks.',
  arguments: [{ name: '[query...]', about: 'What to count; all tasks if nothing is said' }],
  options: [{ flags: '--by <field>', about: 'Split the count by this field' }],
  examples: [
    ['reprise count status:dead', 'How bad is it?'],
    ["reprise count status:dead 'died<10m' --by code", 'What breaks now?'],
    ['reprise count status:dead --by label.region -o json', 'For a program'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const q = askedQuery(invocation)
    const by = options.text('by')
    const { pages } = await import('@reprise/client')
    const values = new Map<string | null, number>()
    const progress = output.progress('counted')
    let all = 0
    try {
      for await (const page of pages(api.countTasks, { q, ...present({ by }) })) {
        all += page.count
        for (const { value, count: some } of page.values) values.set(value, (values.get(value) ?? 0) + some)
        progress.update(all, null)
      }
    } finally {
      progress.end()
    }
    const sorted = [...values].map(([value, some]) => ({ value, count: some })).sort((a, b) => b.count - a.count)
    output.one({ count: all, values: sorted }, ({ line, table }) => {
      if (by === undefined) return line(String(all))
      table(sorted, [
        { title: by.toUpperCase(), value: ({ value }) => value ?? NONE, flexible: true },
        { title: 'TASKS', value: (one) => one.count, right: true },
      ])
      line(`${all} in all`)
    })
    return undefined
  },
}

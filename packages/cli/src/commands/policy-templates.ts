// reprise policy templates: settings that policies can take over by name.

import type { PolicyTemplate } from '@reprise/client'
import type { CommandDefinition } from '../frame/definition.ts'
import { policiesOf } from '../operate/policies.ts'

export const policyTemplates: CommandDefinition = {
  path: ['policy', 'templates'],
  group: 'Policies',
  summary: 'List templates that policies can build on',
  examples: [
    { command: 'reprise policy templates', says: 'What is there to begin with?' },
    { command: 'reprise policy templates -o json', says: 'All their settings' },
  ],
  async run(invocation) {
    const policies = await policiesOf(invocation)
    invocation.output.list<PolicyTemplate>(
      await policies.templates(),
      [
        { title: 'TEMPLATE', value: ({ name }) => name },
        { title: 'SETS', value: settingsText, flexible: true, wraps: true },
      ],
      'There are no templates.',
    )
    return undefined
  },
}

const settingsText = (template: PolicyTemplate): string =>
  Object.entries(template)
    .filter(([setting]) => setting !== 'name')
    .map(([setting, value]) => `${setting}: ${JSON.stringify(value)}`)
    .join(', ')

// reprise worker: a process that runs the actions of a module.

import type { CommandDefinition } from '../frame/definition.ts'

export const worker: CommandDefinition = {
  path: ['worker'],
  group: 'Start',
  summary: 'Run the actions of a module',
  details:
    'Loads a module and runs the tasks of every action that it exports with a handler: by name, as default, or in a list. It claims straight from the store. SIGTERM lets what runs finish (--grace), a second one gives it back at once. TypeScript works as far as Node can strip its types.',
  arguments: [{ name: '<module>', about: 'The file that exports the actions' }],
  settings: [
    'data',
    'concurrency',
    'pools',
    'directedPools',
    'workerId',
    'stopGrace',
    'policies',
    'healthHost',
    'healthPort',
    'logLevel',
    'logFormat',
  ],
  examples: [
    { command: 'reprise worker ./actions.ts', says: 'Beside a local server' },
    { command: 'reprise worker ./actions.js --engine redis://localhost:6379 --concurrency 50', says: 'Over Redis' },
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const [module = ''] = invocation.arguments
    const { runWorker } = await import('../roles/worker.ts')
    await runWorker(module, await invocation.configuration(), invocation.host)
    return undefined
  },
}

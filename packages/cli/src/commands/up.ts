// reprise up: everything in one process.

import type { CommandDefinition } from '../frame/definition.ts'

export const up: CommandDefinition = {
  path: ['up'],
  group: 'Start',
  summary: 'Run everything in one process',
  details:
    'Runs the API, the services that move tasks, and a worker for the actions of the modules that are named. Without configuration it listens on loopback only, keeps tasks in .reprise/reprise.db and prints a link that lets the first admin in, once. Commands in the same folder find it by themselves. SIGTERM ends it in order.',
  arguments: [{ name: '[modules...]', about: 'Files that export actions to run here as well' }],
  options: [
    { flags: '--demo', about: 'With sample actions, and a small stream of tasks, some of which fail' },
    { flags: '--no-demo', about: 'Without them, as usual' },
  ],
  settings: [
    'data',
    'host',
    'port',
    'publicUrl',
    'policies',
    'packs',
    'directedPools',
    'concurrency',
    'stopGrace',
    'logLevel',
    'logFormat',
  ],
  examples: [
    { command: 'reprise up', says: 'A server to try things on' },
    { command: 'reprise up --demo', says: 'With something to look at' },
    { command: 'reprise up ./actions.ts --port 8080', says: 'With a worker, on another port' },
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { runUp } = await import('../roles/up.ts')
    const { arguments: modules, options, host, output } = invocation
    await runUp({ modules, isDemo: options.flag('demo') }, await invocation.configuration(), host, output)
    return undefined
  },
}

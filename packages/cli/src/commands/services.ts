// reprise up, core, orchestrator and worker: what runs until it is asked to end.

import type { CommandDefinition } from '../command/definition.ts'

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
  },
}

export const core: CommandDefinition = {
  path: ['core'],
  group: 'Start',
  summary: 'Run the API, the only surface to the outside',
  details:
    'Runs the HTTP API, sign-in, live events and webhooks. It moves no tasks: run at least one orchestrator beside it. Any number of servers may serve one store. SIGTERM ends it in order.',
  settings: ['data', 'host', 'port', 'publicUrl', 'policies', 'packs', 'stopGrace', 'logLevel', 'logFormat'],
  examples: [
    { command: 'reprise core --engine redis://localhost:6379', says: 'Over Redis, on loopback' },
    { command: 'reprise core --host 0.0.0.0 --public-url https://reprise.example.com', says: 'Behind a proxy' },
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { runCore } = await import('../roles/core.ts')
    await runCore(await invocation.configuration(), invocation.host, invocation.output)
  },
}

export const orchestrator: CommandDefinition = {
  path: ['orchestrator'],
  group: 'Start',
  summary: 'Run the services that move tasks',
  details:
    'Runs the services that move tasks: the sweep, dispatch to directed pools, launch pools, probes, retention. Any number of them may run over one store. It listens for nothing but /healthz, /readyz and /metrics, on loopback. SIGTERM ends it in order.',
  settings: ['data', 'policies', 'packs', 'directedPools', 'healthHost', 'healthPort', 'logLevel', 'logFormat'],
  examples: [
    { command: 'reprise orchestrator --engine redis://localhost:6379', says: 'Over Redis' },
    {
      command: 'reprise orchestrator --directed-pools render --health-port 7441',
      says: 'With a directed pool, and a fixed port for probes',
    },
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { runOrchestrator } = await import('../roles/orchestrator.ts')
    await runOrchestrator(await invocation.configuration(), invocation.host)
  },
}

export const worker: CommandDefinition = {
  path: ['worker'],
  group: 'Start',
  summary: 'Run the actions of a module',
  details:
    'Loads a module and runs the tasks of every action that it exports with a handler: by name, as default, or in a list. It claims straight from the store. SIGTERM lets running tasks finish (--grace), a second one gives them back at once. TypeScript works as far as Node can strip its types.',
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
  },
}

// reprise up, core, orchestrator and worker: what runs until it is asked to end.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import type { SettingName } from '../configuration/settings.ts'

const OF_ALL: readonly SettingName[] = ['data', 'policies', 'logLevel', 'logFormat']
const OF_SERVERS: readonly SettingName[] = [...OF_ALL, 'host', 'port', 'publicUrl', 'adminLink', 'packs', 'stopGrace']
/** They have no API, but answer probes. */
const OF_OTHERS: readonly SettingName[] = [...OF_ALL, 'directedPools', 'healthHost', 'healthPort']

export const up: CommandDefinition = {
  path: ['up'],
  group: 'Start',
  summary: 'Run everything in one process',
  details:
    'Runs the API, the services that move tasks, and a worker for the actions of the modules that you name. Without configuration it listens on loopback only, keeps tasks in .reprise/reprise.db and prints a link that signs the first admin in, once. Commands in the same folder find it by themselves. SIGTERM ends it in order.',
  arguments: [{ name: '[modules...]', about: 'Files that export actions to run here as well' }],
  options: [
    { flags: '--demo', about: 'With sample actions, and a small stream of tasks; some of them fail' },
    { flags: '--no-demo', about: 'Without sample actions: the default' },
    { flags: '--watch', about: 'Starts again whenever a file in the folder of a module changes' },
  ],
  settings: [...OF_SERVERS, 'directedPools', 'concurrency', 'workerVersion'],
  examples: [
    ['reprise up', 'A server to try things on'],
    ['reprise up --demo', 'With something to look at'],
    ['reprise up ./actions.ts --port 8080', 'With a worker, on another port'],
    ['reprise up ./src/actions.ts --watch', 'Starting again with each change'],
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { arguments: modules, options, host, output } = invocation
    if (options.flag('watch')) {
      await runCopies(modules, invocation)
      return
    }
    const { runUp } = await import('../roles/up.ts')
    await runUp({ modules, isDemo: options.flag('demo') }, await invocation.configuration(), host, output)
  },
}

export const core: CommandDefinition = {
  path: ['core'],
  group: 'Start',
  summary: 'Run the API: the only role that others outside need to reach',
  details:
    'Runs the HTTP API, sign-in, live events and webhooks. It moves no tasks: run at least one orchestrator beside it. Any number of servers may serve one store. SIGTERM ends it in order.',
  settings: OF_SERVERS,
  examples: [
    ['reprise core --engine redis://localhost:6379', 'Over Redis, on loopback'],
    ['reprise core --host 0.0.0.0 --public-url https://reprise.example.com', 'Behind a proxy'],
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
    'Runs the services that move tasks: the sweep, retention, dispatch to directed pools, launch pools, probes, jobs, redrives, runbooks, failure groups, work orders, alerts, the ledger and the audit. Any number of orchestrators may run over one store. It serves only /healthz, /readyz and /metrics, on loopback. SIGTERM ends it in order.',
  settings: OF_OTHERS,
  examples: [
    ['reprise orchestrator --engine redis://localhost:6379', 'Over Redis'],
    [
      'reprise orchestrator --directed-pools render --health-port 7441',
      'With a directed pool, and a fixed port for probes',
    ],
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
    'Loads a module and runs the tasks of every action that it exports with a handler: by name, as default, or in a list. It claims straight from the store. SIGTERM lets running tasks finish (--grace), a second one gives them back at once. TypeScript works as it is, also with enums, JSX and in CommonJS packages.',
  arguments: [{ name: '<module>', about: 'The file that exports the actions' }],
  options: [{ flags: '--watch', about: 'Starts again whenever a file in the folder of a module changes' }],
  settings: [...OF_OTHERS, 'concurrency', 'pools', 'workerId', 'workerVersion', 'stopGrace'],
  examples: [
    ['reprise worker ./actions.ts', 'Beside a local server'],
    ['reprise worker ./actions.js --engine redis://localhost:6379 --concurrency 50', 'Over Redis'],
    ['reprise worker ./actions.js --version 2.4.0', 'Failures of this version are found by version:2.4.0'],
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const [module = ''] = invocation.arguments
    if (invocation.options.flag('watch')) {
      await runCopies([module], invocation)
      return
    }
    const { runWorker } = await import('../roles/worker.ts')
    await runWorker(module, await invocation.configuration(), invocation.host)
  },
}

/** The roles are loaded when they are needed. */
async function runCopies(modules: readonly string[], { host, output }: Invocation): Promise<void> {
  const { runWatched } = await import('../roles/watch.ts')
  await runWatched(modules, host, output)
}

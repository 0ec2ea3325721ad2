// reprise orchestrator: the services that move tasks, as a process of their own.

import type { CommandDefinition } from '../frame/definition.ts'

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
    return undefined
  },
}

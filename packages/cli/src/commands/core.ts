// reprise core: the HTTP API as a process of its own.

import type { CommandDefinition } from '../frame/definition.ts'

export const core: CommandDefinition = {
  path: ['core'],
  group: 'Start',
  summary: 'Run the API, the only surface to the outside',
  details:
    'Runs the HTTP API, sign-in, live events and webhooks. It moves no tasks: run at least one orchestrator beside it. Any number of them may serve one store. SIGTERM ends it in order.',
  settings: ['data', 'host', 'port', 'publicUrl', 'policies', 'packs', 'stopGrace', 'logLevel', 'logFormat'],
  examples: [
    { command: 'reprise core --engine redis://localhost:6379', says: 'Over Redis, on loopback' },
    { command: 'reprise core --host 0.0.0.0 --public-url https://reprise.example.com', says: 'Behind a proxy' },
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { runCore } = await import('../roles/core.ts')
    await runCore(await invocation.configuration(), invocation.host, invocation.output)
    return undefined
  },
}

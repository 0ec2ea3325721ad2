// How every test in the workspace runs: straight from the sources (the `source` condition of each package's exports),
// in forked processes, three at a time: many wait for other processes, so two would leave processors idle.

import { defineConfig } from 'vitest/config'

const conditions = ['reprise-source', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['reprise-source', 'node'] } },
  test: {
    environment: 'node',
    include: [
      'packages/*/test/**/*.test.ts',
      'attack/test/**/*.test.ts',
      'bench/test/**/*.test.ts',
      'examples/*/test/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    pool: 'forks',
    maxWorkers: 3,
    execArgv: ['--conditions=reprise-source', '--no-warnings'],
    // For what hangs. Nobody measures by it: a busy machine takes several times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
  },
})

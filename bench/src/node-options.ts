// How every process of the benchmark is started: from the sources, and able to collect garbage before it measures.

export const NODE_OPTIONS: readonly string[] = ['--conditions=reprise-source', '--expose-gc', '--no-warnings']

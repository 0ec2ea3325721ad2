// Growth of running time as a ratio between two sizes, so that it holds on a fast machine and a slow one alike.

const ROUNDS = 15

/** How many times longer the larger input takes, each by its fastest of several runs. */
export function growth(run: (size: number) => void, sizes: { readonly small: number; readonly large: number }): number {
  return (
    fastestMs(() => run(sizes.large)) /
    Math.max(
      fastestMs(() => run(sizes.small)),
      0.005,
    )
  )
}

function fastestMs(run: () => void): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    run()
    fastest = Math.min(fastest, performance.now() - startedAt)
  }
  return fastest
}

// Growth of running time as a ratio between two sizes, so that it holds on a fast machine and a slow one alike. It counts
// the processor's time of this process: while other programs have the processor, nothing is counted.

interface Sizes {
  readonly small: number
  readonly large: number
  /** A ratio below this is fine: no more runs are needed then. */
  readonly below: number
}

const ROUNDS_MIN = 5
/** A collection of garbage can fall into any run. Within this time there are some without. */
const MEASURE_MS_MAX = 20_000

/** How many times longer the larger input takes, each by its fastest of several runs. The two sizes take turns. */
export function growth(run: (size: number) => void, { small, large, below }: Sizes): number {
  let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const ratio = () => largeMs / Math.max(smallMs, 0.005)
  const giveUpAt = performance.now() + MEASURE_MS_MAX
  for (let round = 0; round < ROUNDS_MIN || (ratio() >= below && performance.now() < giveUpAt); round++) {
    smallMs = Math.min(
      smallMs,
      msOf(() => run(small)),
    )
    largeMs = Math.min(
      largeMs,
      msOf(() => run(large)),
    )
  }
  return ratio()
}

function msOf(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

// The little arithmetic the benchmark needs. The machine is noisy, so a figure is the median of its rounds, never the
// best of them.

export function median(samples: readonly number[]): number {
  return percentile(samples, 50)
}

/** Between the two nearest samples, linearly. NaN without samples. */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const place = ((sorted.length - 1) * percent) / 100
  const below = sorted[Math.floor(place)]
  const above = sorted[Math.ceil(place)]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** To so many digits after the point. */
export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}

// What a worker sees coming (C9): its own figures, smoothed, with their trend. If a figure that has come half-way to its
// threshold will cross it within half a minute, the worker says so and counts as degraded before it is. Pure: Holt's
// double exponential smoothing, and a sentence with the numbers that led to it. What is over a threshold already is not
// its business: health sees that by itself.

import { DEFAULT_HEALTH_THRESHOLDS, type HealthThresholds } from './health.ts'

export interface ForecastSample {
  /** Milliseconds, of any clock that goes on steadily. */
  readonly at: number
  /** A share from 0 to 1. */
  readonly failureRate: number
  readonly loopLagMs: number
  readonly queueDepth: number
}

/** How far a trend is carried on. */
const FORECAST_MS = 30_000
/** Before this many samples there is no trend to speak of. */
const FORECAST_SAMPLES_MIN = 5
/** Samples further apart than this have nothing to do with each other. */
const GAP_MS_MAX = 60_000
/** How much the newest sample weighs, for the level and for the trend: enough to follow, too little to jump at one peak. */
const LEVEL_WEIGHT = 0.4
const TREND_WEIGHT = 0.3
/** A trend must show in this number of samples in a row: chance seldom does. */
const IN_A_ROW_MIN = 2

type Figure = Exclude<keyof ForecastSample, 'at'>

interface Outlook {
  readonly inSeconds: number
  readonly sentence: string
}

export class Forecast {
  readonly #limits: Readonly<Record<Figure, number>>
  #trends: Readonly<Record<Figure, Trend>> = newTrends()
  #lastAt: number | null = null
  #samples = 0
  #inRow = 0
  #outlook: string | null = null

  constructor(thresholds: HealthThresholds = DEFAULT_HEALTH_THRESHOLDS) {
    this.#limits = {
      failureRate: thresholds.failureRateDegraded,
      loopLagMs: thresholds.lagMsDegraded,
      queueDepth: thresholds.depthDegraded,
    }
  }

  /** Takes the figures of this moment. What is coming, in words; null if nothing is, or nobody can tell yet. */
  sample(sample: ForecastSample): string | null {
    const elapsedMs = this.#lastAt === null ? 0 : sample.at - this.#lastAt
    if (elapsedMs > GAP_MS_MAX || elapsedMs < 0) {
      this.#trends = newTrends()
      this.#samples = 0
      this.#inRow = 0
    } else if (this.#lastAt !== null && elapsedMs === 0) return this.#outlook
    this.#lastAt = sample.at
    this.#samples++
    for (const figure of FIGURES) this.#trends[figure].take(sample[figure], elapsedMs / 1_000)
    const soonest = this.#soonest()
    this.#inRow = soonest === null ? 0 : this.#inRow + 1
    const isTrend = this.#samples >= FORECAST_SAMPLES_MIN && this.#inRow >= IN_A_ROW_MIN
    this.#outlook = isTrend ? soonest : null
    return this.#outlook
  }

  #soonest(): string | null {
    let soonest: Outlook | null = null
    for (const figure of FIGURES) {
      const outlook = outlookOf(figure, this.#trends[figure], this.#limits[figure])
      if (outlook !== null && (soonest === null || outlook.inSeconds < soonest.inSeconds)) soonest = outlook
    }
    return soonest?.sentence ?? null
  }
}

class Trend {
  level: number | null = null
  /** Per second. */
  slope = 0

  take(value: number, seconds: number): void {
    const before = this.level
    if (before === null || seconds <= 0) {
      this.level = value
      return
    }
    this.level = LEVEL_WEIGHT * value + (1 - LEVEL_WEIGHT) * (before + this.slope * seconds)
    this.slope = TREND_WEIGHT * ((this.level - before) / seconds) + (1 - TREND_WEIGHT) * this.slope
  }
}

const newTrends = (): Readonly<Record<Figure, Trend>> => ({
  failureRate: new Trend(),
  loopLagMs: new Trend(),
  queueDepth: new Trend(),
})

const FIGURES = ['failureRate', 'loopLagMs', 'queueDepth'] as const satisfies Figure[]

function outlookOf(figure: Figure, { level, slope }: Trend, limit: number): Outlook | null {
  if (level === null || slope <= 0 || level >= limit || level < limit / 2) return null
  const inSeconds = (limit - level) / slope
  if (inSeconds * 1_000 > FORECAST_MS) return null
  const seconds = Math.max(Math.round(inSeconds), 1)
  return { inSeconds, sentence: `${WORDS[figure](level, slope, limit)} in about ${seconds} s` }
}

const WORDS: Readonly<Record<Figure, (level: number, slope: number, limit: number) => string>> = {
  failureRate: (level, slope, limit) =>
    `${percent(level)} % of its attempts fail, rising by ${percent(slope)} points/s: past ${percent(limit)} %`,
  loopLagMs: (level, slope, limit) =>
    `its event loop is ${Math.round(level)} ms late and rising by ${rounded(slope)} ms/s: past ${rounded(limit)} ms`,
  queueDepth: (level, slope, limit) =>
    `${Math.round(level)} tasks wait inside it, ${rounded(slope)} more each second: past ${rounded(limit)}`,
}

/** Two digits that mean something. */
const rounded = (value: number): number => (value >= 10 ? Math.round(value) : Number(value.toPrecision(2)))
const percent = (share: number): number => rounded(share * 100)

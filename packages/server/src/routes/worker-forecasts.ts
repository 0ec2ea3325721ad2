// What is coming for workers over HTTP that make no forecast of their own (C9): their figures are followed from heartbeat to
// heartbeat, as a worker of the SDK follows its own. Kept in memory: a server that starts anew has to see a trend again.

import { type Clock, type Engine, Forecast, type WorkerId } from '@reprise/core'

interface Figures {
  readonly loopLagMs: number
  readonly queueDepth: number
}

interface Followed {
  readonly epoch: number
  readonly forecast: Forecast
}

const WORKERS_MAX = 10_000
/** A rate needs this many times the outcomes that health asks for: chance must not look like a trend. */
const TREND_OUTCOMES = 3

export class WorkerForecasts {
  readonly #engine: Pick<Engine, 'worker' | 'healthThresholds'>
  readonly #clock: Clock
  /** The one that was not heard of for longest comes first. */
  readonly #followed = new Map<WorkerId, Followed>()

  constructor(engine: Pick<Engine, 'worker' | 'healthThresholds'>, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** Called once for each heartbeat. In words; null if nothing is coming. */
  async outlook(worker: WorkerId, epoch: number, figures: Figures): Promise<string | null> {
    const { forecast } = this.#of(worker, epoch)
    return forecast.sample({ at: this.#clock.monotonic(), failureRate: await this.#failureRate(worker), ...figures })
  }

  #of(worker: WorkerId, epoch: number): Followed {
    const known = this.#followed.get(worker)
    const followed = known?.epoch === epoch ? known : { epoch, forecast: new Forecast(this.#engine.healthThresholds) }
    this.#followed.delete(worker)
    this.#followed.set(worker, followed)
    const [oldest] = this.#followed.keys()
    if (this.#followed.size > WORKERS_MAX && oldest !== undefined) this.#followed.delete(oldest)
    return followed
  }

  /** As the store saw it; 0 while there are too few outcomes to tell. */
  async #failureRate(worker: WorkerId): Promise<number> {
    const { recentOutcomes = 0, recentFailures = 0 } = (await this.#engine.worker(worker)) ?? {}
    const { minOutcomes } = this.#engine.healthThresholds
    return recentOutcomes < minOutcomes * TREND_OUTCOMES ? 0 : recentFailures / recentOutcomes
  }
}

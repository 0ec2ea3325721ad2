// The door of this room: health, the choice of a worker, forecasts, scaling, orders.

export { actionsOfAnyHealth, type ClaimedAction, claimedWhateverHealth } from './any-health.ts'
export { Forecast } from './forecast.ts'
export {
  blamesWorker,
  CLAIMS_NOTHING,
  DEFAULT_HEALTH_THRESHOLDS,
  type Health,
  type HealthStatus,
  type HealthThresholds,
  speaksAgainstWorker,
} from './health.ts'
export { readHealthThresholds } from './health-thresholds.ts'
export { isAlive } from './liveness.ts'
export { type ScalingOptions, type ScalingSignal, scalingSignal } from './scaling.ts'
export { heartbeatLag, PREFERRED_WORKER_LABEL, selectWorker } from './select-worker.ts'
export { isUnwell, takingWork } from './taking-work.ts'
export { isDrainOrdered, orderDrain } from './worker-orders.ts'

/**
 * The services that move tasks, one service per file. They speak to the store through the Engine port only, and any
 * number of processes may run them side by side.
 */

export { createSweep, type SweepOptions } from './sweep.ts'
export { type SweepReport, sweepOnce } from './sweep-once.ts'

/**
 * Jobs made of chunks. `JobExecutor` runs them over an adapter, from this process and without a store: what it knows ends with
 * the process. Durable jobs live in a store and are an orchestrator's part.
 */

export { ChunkFailedError } from '@reprise/core'
export type { Chunk, ChunkAdapter, ChunkOutcome, ChunkRun } from './adapter.ts'
export {
  type ChunkReport,
  type ExecutorOptions,
  type FailedChunk,
  type Job,
  type JobExecutionOptions,
  JobExecutor,
  type JobReport,
} from './job-executor.ts'
export { type ChunkCommand, createProcessAdapter, type ProcessAdapterOptions } from './process-adapter.ts'

/**
 * Jobs made of chunks. `JobExecutor` runs them over an adapter, from this process and without a store: what it knows ends with
 * the process. A durable job lives in a store, where an orchestrator moves it: here is the part of its submitter.
 */

export { ChunkFailedError, JobFailedError } from '@reprise/core'
export type { Chunk, ChunkAdapter, ChunkOutcome, ChunkRun } from './adapter.ts'
export { CHUNK_FORMATS, type ChunkFormat, chunksFrom, chunksFromFile, formatOf } from './chunk-files.ts'
export { type CloudRunAdapterOptions, createCloudRunAdapter } from './cloud-run-adapter.ts'
export {
  type ChunkRange,
  type DurableJob,
  type FollowOptions,
  type JobCalls,
  type JobChunk,
  type JobSettings,
  type JobState,
  jobChunks,
  jobEnded,
  startDurableJob,
} from './durable-job.ts'
export {
  type ChunkReport,
  type ExecutorOptions,
  type FailedChunk,
  type Job,
  type JobExecutionOptions,
  JobExecutor,
  type JobReport,
} from './job-executor.ts'
export { createLambdaAdapter, type LambdaAdapterOptions } from './lambda-adapter.ts'
export { type ChunkCommand, createProcessAdapter, type ProcessAdapterOptions } from './process-adapter.ts'

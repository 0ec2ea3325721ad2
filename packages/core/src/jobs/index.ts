// Durable jobs: their document, the steps of its state machine, and sets of chunks as text.

export { countIn, mergedPlaces, placesIn, rangesOf } from './chunk-ranges.ts'
export {
  type BlockRef,
  blockDefinition,
  type ChunkSource,
  chunkId,
  chunkSpec,
  ENDED_JOB,
  type FinalStep,
  finalId,
  finalSpec,
  JOB_BLOCKS_MAX,
  JOB_CHUNKS_MAX,
  JOB_PREFIX,
  JOB_STATUSES,
  JOB_WINDOW,
  type JobBlock,
  type JobDocument,
  type JobStatus,
  jobDefinition,
  rangePayload,
  type Tolerance,
  windowOf,
} from './job.ts'
export {
  advanced,
  cancelled,
  type JobProgress,
  measured,
  type Operator,
  progressOf,
  resumed,
  retried,
} from './job-steps.ts'

// What runs one attempt of a chunk: a process, a function in a cloud, a container. An adapter knows neither retries nor other
// chunks. It answers with an exit code, or throws if the chunk could not be run at all; both are failures (E2).

export interface Chunk<Input = unknown> {
  /** Unique within its job. */
  readonly id: string
  /** What is done with it; JSON data for adapters that send it elsewhere. */
  readonly input?: Input
}

/** One attempt of a chunk. */
export interface ChunkRun<Input = unknown> {
  readonly chunk: Chunk<Input>
  /** From 1. */
  readonly attempt: number
  /** Fires when the job stops: the attempt must then end soon. */
  readonly signal: AbortSignal
}

export interface ChunkOutcome {
  /** 0 for success. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface ChunkAdapter<Input = unknown> {
  readonly name: string
  execute(run: ChunkRun<Input>): Promise<ChunkOutcome>
}

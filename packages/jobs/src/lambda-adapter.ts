// Runs each attempt of a chunk as one invocation of an AWS Lambda function, and waits for its answer. The service is asked once: what
// to do about a failure is the executor's. A function that answers { exitCode, stdout, stderr } is taken at its word.

import { check } from '@reprise/core'
import { type LambdaClient, openLambda } from '@reprise/launchers/clients'
import type { ChunkAdapter, ChunkOutcome } from './adapter.ts'

export interface LambdaAdapterOptions {
  /** Name, or the whole ARN. */
  readonly functionName: string
  /** A version or an alias. */
  readonly qualifier?: string
  /** By the usual chain of the AWS SDK if not given, as credentials are. */
  readonly region?: string
  /** For another address than that of AWS. */
  readonly endpoint?: string
}

const CHECKS: check.Table<LambdaAdapterOptions> = {
  functionName: check.text,
  qualifier: check.text,
  region: check.text,
  endpoint: check.text,
}

/** The function gets { chunk, attempt, input }. Needs the package @aws-sdk/client-lambda. */
export function createLambdaAdapter<Input = unknown>(options: LambdaAdapterOptions): ChunkAdapter<Input> {
  check.options(options, CHECKS, 'Lambda adapter option', ['functionName'])
  const { functionName, qualifier, ...where } = options
  const lambda: LambdaClient = openLambda(where)
  return {
    name: 'lambda',
    async execute({ chunk, attempt, signal }) {
      const payload = JSON.stringify({ chunk: chunk.id, attempt, input: chunk.input ?? null })
      const answer = await lambda.invoke({ functionName, qualifier, kind: 'request', payload, signal })
      const text = answer.payload ?? 'null'
      return answer.functionError === null ? outcomeOf(text) : { exitCode: 1, stdout: '', stderr: errorOf(text) }
    },
  }
}

function outcomeOf(text: string): ChunkOutcome {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || !('exitCode' in value) || typeof value.exitCode !== 'number') {
    return { exitCode: 0, stdout: text, stderr: '' }
  }
  const { stdout = '', stderr = '' } = value as { readonly stdout?: unknown; readonly stderr?: unknown }
  return { exitCode: value.exitCode, stdout: String(stdout), stderr: String(stderr) }
}

/** What a function that failed says of itself. */
function errorOf(text: string): string {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return text
  const { errorType, errorMessage } = value as { readonly errorType?: unknown; readonly errorMessage?: unknown }
  return [errorType, errorMessage].filter((part) => typeof part === 'string').join(': ') || text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

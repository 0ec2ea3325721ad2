// The AWS SDK, loaded when it is used: Reprise comes without it.

import { InvalidError } from '@reprise/core'

export type Sdk = typeof import('@aws-sdk/client-sqs')

export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-sqs')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new InvalidError('A queue of SQS needs the AWS SDK. Install it: npm install @aws-sdk/client-sqs', {
      cause: error,
    })
  }
}

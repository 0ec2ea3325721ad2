// Why a worker ended before it could report, in codes that are the same on every platform: failure groups tell them apart, and
// policies may name them. docs/launchers.md lists them.

import type { LossCause } from '@reprise/core'

export type CauseCode =
  /** It needed more memory than it was given. */
  | 'WORKER_OUT_OF_MEMORY'
  /** Its image can't be pulled: a wrong name, no right, a registry that does not answer. */
  | 'WORKER_IMAGE_UNAVAILABLE'
  /** The platform took its machine away: spot capacity, a node that was drained, a preemption. */
  | 'WORKER_INTERRUPTED'
  /** Something it needs could not be set up: a secret, a volume, a network interface. */
  | 'WORKER_NOT_STARTED'
  /** A person or another program stopped it. */
  | 'WORKER_STOPPED'
  /** The platform's own limit of time was over. */
  | 'WORKER_PAST_DEADLINE'
  /** It ended well, and did not call back. */
  | 'WORKER_SILENT'
  /** It ended, and the platform does not say why. */
  | 'WORKER_ENDED'

const WORDS_LENGTH_MAX = 500

/** `words` is what the platform says, as it says it. */
export function causeOf(code: CauseCode, message: string, words: string | null | undefined = null): LossCause {
  const said = words === null || words === undefined || words === '' ? '' : ` The platform says: ${plain(words)}`
  return { code, message: `${message}${said}` }
}

/** By the exit code alone, where the platform says no more. */
export function causeOfExit(exitCode: number | null | undefined, words: string | null | undefined = null): LossCause {
  if (exitCode === null || exitCode === undefined) {
    return causeOf('WORKER_ENDED', 'The worker ended and did not call back.', words)
  }
  if (exitCode === 0) {
    return causeOf('WORKER_SILENT', 'The worker ended with exit code 0 and did not call back.', words)
  }
  const { message } = causeOf(
    'WORKER_ENDED',
    `The worker ended with exit code ${exitCode} and did not call back.`,
    words,
  )
  return { code: `EXIT_${exitCode}`, message }
}

function plain(words: string): string {
  return words
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, WORDS_LENGTH_MAX)
    .toWellFormed()
}

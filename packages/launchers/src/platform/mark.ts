// The marks of a launch: short hashes that fit wherever a platform keeps names, labels or tags, and the variable that brings them
// into a worker's environment, where platforms show them to us again.

import { createHash } from 'node:crypto'
import type { LaunchOrder } from '@reprise/core'
import { workerEnvironment } from '../worker-environment.ts'
import type { Mark, MarkedOrder } from './platform.ts'

/** Fits, with a prefix of 8 characters, into the 36 that `startedBy` of ECS takes. */
const LAUNCH_MARK_LENGTH = 28
const TOKEN_MARK_LENGTH = 16

/** `<launch>.<token>`, in the environment of each worker. */
export const MARK_VARIABLE = 'REPRISE_LAUNCH'

const hashOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)

export const launchMark = (key: string): string => hashOf(key, LAUNCH_MARK_LENGTH)
export const tokenMark = (token: string): string => hashOf(token, TOKEN_MARK_LENGTH)
const markText = ({ launch, token }: Mark): string => `${launch}.${token}`

/** Null for a text that is no mark. */
export function parseMark(text: string | undefined): Mark | null {
  const [, launch, token] = /^([0-9a-f]{28})\.([0-9a-f]{16})$/.exec(text ?? '') ?? []
  return launch === undefined || token === undefined ? null : { launch, token }
}

export function markedOrder(
  order: LaunchOrder,
  callbackUrl: string | null,
  env: Readonly<Record<string, string>>,
): MarkedOrder {
  const mark = { launch: launchMark(order.key), token: tokenMark(order.token) }
  return {
    order,
    mark,
    env: { ...env, ...workerEnvironment(order, callbackUrl), [MARK_VARIABLE]: markText(mark) },
  }
}

// The options that all launchers on platforms have, checked and completed once.

import { type Clock, check, type Duration, durationMs, InvalidError, systemClock } from '@reprise/core'

export interface PlatformOptions {
  readonly name?: string
  /** Where workers report their end: `https://<server>/task-complete`. */
  readonly callbackUrl?: string
  /** How often the platform is asked about one worker at the most; 5 s if not given. */
  readonly lookEvery?: Duration
  /** How long a worker that was started may stay unknown to the platform's lists; 10 s if not given. */
  readonly visibleWithin?: Duration
  /** How long one call of the platform may take; 10 s if not given. */
  readonly callWithin?: Duration
  /** Told, once a minute at the most, why the platform could not be asked about workers; nobody if not given. */
  readonly onError?: (error: unknown) => void
  readonly clock?: Clock
}

export const PLATFORM_CHECKS = {
  name: check.text,
  callbackUrl: (value: unknown) =>
    typeof value === 'string' && URL.canParse(value)
      ? null
      : "an address, such as 'https://reprise.example.com/task-complete'",
  lookEvery: check.anything,
  visibleWithin: check.anything,
  callWithin: check.anything,
  onError: check.func,
  clock: check.having('now', 'monotonic', 'after'),
} as const

export interface PlatformSettings {
  readonly name: string
  readonly callbackUrl: string | null
  readonly lookEveryMs: number
  readonly visibleWithinMs: number
  readonly callWithinMs: number
  readonly onError: (error: unknown) => void
  readonly clock: Clock
}

const LOOK_EVERY_MS = 5_000
const VISIBLE_WITHIN_MS = 10_000
const CALL_WITHIN_MS = 10_000

export function platformSettings(options: PlatformOptions, kind: string): PlatformSettings {
  return {
    name: options.name ?? kind,
    callbackUrl: options.callbackUrl ?? null,
    lookEveryMs: durationMs(options.lookEvery ?? LOOK_EVERY_MS, 'lookEvery'),
    visibleWithinMs: durationMs(options.visibleWithin ?? VISIBLE_WITHIN_MS, 'visibleWithin'),
    callWithinMs: durationMs(options.callWithin ?? CALL_WITHIN_MS, 'callWithin'),
    onError: options.onError ?? (() => undefined),
    clock: options.clock ?? systemClock,
  }
}

/** Variables that a worker gets beside those of its attempt. */
export function checkedEnv(
  env: Readonly<Record<string, string>> | undefined,
  whose: string,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (name.startsWith('REPRISE_')) {
      throw new InvalidError(`${whose} sets ${name}. Names with REPRISE_ are set for each worker.`)
    }
    if (!/^[^=\0]+$/.test(name) || typeof value !== 'string' || value.includes('\0')) {
      throw new InvalidError(`${whose} sets a variable that no environment can hold.`)
    }
  }
  return env ?? {}
}

// What the demo can show while it runs. There are two views: a live one that is redrawn in place on a terminal, and
// plain lines anywhere else. Both show the same facts.

import type { DemoProgress } from './progress.ts'

export type Tone = 'good' | 'bad' | 'plain'

/** Something worth telling happened. */
export interface DemoEvent {
  readonly atMs: number
  readonly tone: Tone
  readonly text: string
}

export type Announce = (tone: Tone, text: string) => void

/** What stays the same for the whole run. */
export interface DemoTitle {
  readonly tasks: number
  readonly tenants: number
  readonly workers: number
  readonly seed: number
}

export interface View {
  announce(event: DemoEvent): void
  show(progress: DemoProgress): void
  /** Leaves the terminal as it was found. May be called twice. */
  close(): void
}

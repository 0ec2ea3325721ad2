// A stage that tells of each step that its platform has taken, before anybody hears of it: so that an orchestrator can be killed there.

import type { LauncherFactory, LauncherStage } from '../src/index.ts'
import type { Recipe } from './recipes.ts'

export type PlatformStep = 'started' | 'looked' | 'stopped' | 'removed'

export interface SteppedStage extends LauncherStage {
  readonly recipe: Recipe
  /** Those that it tells of. */
  readonly steps: readonly PlatformStep[]
  onStep: ((step: PlatformStep) => void) | null
}

export interface SteppedFactory extends LauncherFactory {
  open(): Promise<SteppedStage>
}

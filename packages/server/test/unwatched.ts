// A loop that nobody watches, for servers that are put together by hand.

import type { LoopWatch } from '@reprise/telemetry'

export const UNWATCHED: Pick<LoopWatch, 'mark' | 'run'> = { mark: () => undefined, run: (_route, handle) => handle() }

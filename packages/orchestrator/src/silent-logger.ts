// The logger of a library nobody gave one to: it says nothing.

import type { Logger } from '@reprise/core'

const nothing = (): void => {}

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

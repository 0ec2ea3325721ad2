// Looks into the delay queue and the dead letters, as `reprise retry-inspect` does (B11, B16): node scripts/ops/retry-inspect.mjs

import { runReprise } from './run-reprise.mjs'

runReprise('retry-inspect')

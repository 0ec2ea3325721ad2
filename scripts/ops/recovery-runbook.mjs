// Runs a recovery runbook, as `reprise recovery-runbook` does (B11, B16): node scripts/ops/recovery-runbook.mjs <runbook> --input …

import { runReprise } from './run-reprise.mjs'

runReprise('recovery-runbook')

// Every case by its subject, in the order in which they are tried.

import type { AttackCase } from '../case.ts'
import { randomRequests } from '../routes/random-requests.ts'
import { commandLineCases } from './command-line.ts'
import { evidenceCases } from './evidence.ts'
import { greedCases } from './greed.ts'
import { holdCases } from './holds.ts'
import { jobCases } from './jobs.ts'
import { keyCases } from './keys.ts'
import { leakCases } from './leaks.ts'
import { localCases } from './local.ts'
import { loopCases } from './loop.ts'
import { plantedCases } from './planted.ts'
import { quotaCases } from './quotas.ts'
import { redriveCases } from './redrives.ts'
import { searchCases } from './searches.ts'
import { signInCases } from './sign-in.ts'
import { tellTaleCases } from './tell-tales.ts'
import { tokenCases } from './tokens.ts'
import { webhookCases } from './webhooks.ts'

/** `seed` is that of the requests which are drawn at random. */
export const subjectsOf = (seed: number): Readonly<Record<string, readonly AttackCase[]>> => ({
  loop: loopCases,
  planted: plantedCases,
  searches: searchCases,
  greed: greedCases,
  redrives: redriveCases,
  jobs: jobCases,
  evidence: evidenceCases,
  quotas: quotaCases,
  holds: holdCases,
  leaks: leakCases,
  'tell-tales': tellTaleCases,
  webhooks: webhookCases,
  'sign-in': signInCases,
  tokens: tokenCases,
  local: localCases,
  keys: keyCases,
  'command-line': commandLineCases,
  routes: randomRequests(seed),
})

// Who did it and why, for the journal: who is what the credentials say, never what the request says.

import type { By } from '@reprise/core'
import type { Principal } from './principal.ts'

export const byOf = ({ actor }: Principal, reason: string | undefined): By => ({
  actor,
  reason: reason ?? 'asked for over HTTP',
})

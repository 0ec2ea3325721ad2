// Features that an administrator can switch off (B12): what belongs to one is refused while it is off.

import { type FlagName, RequestError } from '@reprise/core'
import type { Services } from '../services.ts'

export function refuseUnlessOn({ flags }: Pick<Services, 'flags'>, name: FlagName): void {
  if (flags.current()[name]) return
  throw new RequestError(
    'REPRISE_FEATURE_OFF',
    `The feature '${name}' is switched off. An administrator can switch it on.`,
  )
}

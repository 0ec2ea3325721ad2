// A store that nobody damaged agrees with itself at any moment: an inspection finds nothing, and a repair has nothing to do.

import { type Engine, subjectText } from '@reprise/core'
import { wholeInspection } from '../whole-inspection.ts'
import { InvariantError } from './difference.ts'
import { BY } from './draft.ts'

/** In small steps, so that cursors are tried as well. */
const LIMIT = 4

export async function checkInspection(engine: Engine, repair: boolean): Promise<void> {
  const { findings } = await wholeInspection(engine, { repair, by: BY, limit: LIMIT })
  const texts = findings.map(
    ({ kind, subject, found, expected }) => `${kind} of ${subjectText(subject)}: ${found}, not ${expected}`,
  )
  if (texts.length > 0) throw new InvariantError(10, `an inspection finds ${texts.join('; ')}.`)
}

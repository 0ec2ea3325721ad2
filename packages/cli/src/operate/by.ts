// Who asks for a change, and why, as the journal will have it. Through a server it names whom the token belongs to; straight
// on a store there is only the name that the operating system knows.

import type { ByOptions } from '@reprise/client'
import type { OptionDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'

export const REASON: OptionDefinition = { flags: '--reason <text>', about: 'Why, for the journal' }

const WHY = 'asked for on the command line'

export async function byOf(invocation: Invocation): Promise<ByOptions> {
  const reason = invocation.options.text('reason') ?? WHY
  const { kind } = await invocation.target()
  return kind === 'http' ? { reason } : { reason, actor: localActor(invocation) }
}

export const localActor = (invocation: Invocation): string => `cli:${userName(invocation)}`

/** As the environment has it. */
export function userName({ host }: Invocation): string {
  const { USER, LOGNAME, USERNAME } = host.env
  return USER ?? LOGNAME ?? USERNAME ?? 'unknown'
}

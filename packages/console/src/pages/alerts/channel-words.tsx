// How a channel is, in shape and word, and what it is told of.

import type { OperationOutput } from '../../api/client.ts'
import { span } from '../../format.ts'
import { StateMark } from '../../parts/state-mark.tsx'

export type Channel = OperationOutput<'listChannels'>['items'][number]

export const ChannelMark = ({ channel: { enabled, disabledBecause } }: { readonly channel: Channel }) => (
  <StateMark state={enabled ? 'succeeded' : disabledBecause === null ? 'held' : 'dead'} word={enabled ? 'on' : 'off'} />
)

/** Which alerts it is told of, and when. */
export function routeOf({ rules, minSeverity, afterMs, remindMs, quiet }: Channel): string {
  const which = rules.length === 0 ? 'all alerts' : `alerts of ${rules.join(', ')}`
  return [
    `${which} from ${minSeverity} on`,
    ...(afterMs === 0 ? [] : [`once nobody acknowledged them for ${span(afterMs)}`]),
    ...(remindMs === null ? [] : [`again every ${span(remindMs)}`]),
    ...(quiet === null ? [] : [`from ${quiet.from} to ${quiet.to} (${quiet.zone}) only from ${quiet.butFrom} on`]),
  ].join('; ')
}

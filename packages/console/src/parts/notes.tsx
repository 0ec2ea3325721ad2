// What operators noted on a task or a cause, and a field for the next note.

import { call } from '../api/client.ts'
import { Remarks, type RemarksProps } from './remarks.tsx'

export function Notes({
  notes,
  on,
}: {
  readonly notes: RemarksProps['remarks']
  readonly on: { readonly task: string } | { readonly fingerprint: string }
}) {
  return (
    <Remarks
      remarks={notes}
      none="Nobody has noted anything yet."
      label="A note for the next person"
      hint="A note for the next person"
      verb="Add"
      maxLength={2_000}
      add={(text) => call('addNote', { ...on, text })}
    />
  )
}

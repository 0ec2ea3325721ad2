// Asks before a change: what it touches, in numbers; what could go wrong, in sentences; a reason for the journal; and the same as
// a command. What was typed stays if the server refuses.

import { type ReactNode, useState } from 'react'
import { toast } from '../shell/toasts.tsx'
import { FormSheet } from './form-sheet.tsx'
import { shellWord } from './texts.tsx'

export interface Change {
  readonly title: string
  /** On the button: 'Pause 3 lanes'. */
  readonly verb: string
  /** What it will touch, and what could go wrong. */
  readonly touches: ReactNode
  /** The command without its reason. */
  readonly command: string
  readonly isDangerous?: boolean
  /** False where the operation takes no reason; the journal has it all the same. */
  readonly hasReason?: boolean
  /** Whether it is not done without a reason. */
  readonly needsReason?: boolean
  /** What the reason is called here; it may be the result of something. */
  readonly reasonLabel?: string
  /** The whole command with its reason, where that is no option `--reason`. */
  readonly lineOf?: (reason: string) => string
  /** Fields of its own. */
  readonly fields?: ReactNode
  readonly isReady?: boolean
  /** The answer is what happened, for the note that says so. */
  readonly run: (reason: string | undefined) => Promise<string | Done>
}

export interface Done {
  readonly says: string
  readonly undo?: () => Promise<unknown>
}

export function Confirm({ change, onClose }: { readonly change: Change; readonly onClose: () => void }) {
  const {
    title,
    verb,
    touches,
    command,
    isDangerous = false,
    hasReason = true,
    needsReason = false,
    reasonLabel = `Reason, for the journal${needsReason ? '' : ' (may be empty)'}`,
    lineOf = (reason: string) => (reason === '' ? command : `${command} --reason ${shellWord(reason)}`),
    fields,
    isReady = true,
    run,
  } = change
  const [reason, setReason] = useState('')
  const said = reason.trim()
  const line = lineOf(said)
  const submit = async (): Promise<void> => {
    const done = await run(said === '' ? undefined : said)
    const { says, undo } = typeof done === 'string' ? { says: done, undo: undefined } : done
    toast(says, { command: line, ...(undo === undefined ? {} : { undo }) })
    onClose()
  }
  return (
    <FormSheet
      title={title}
      verb={verb}
      command={line}
      isDangerous={isDangerous}
      isReady={isReady && !(needsReason && said === '')}
      submit={submit}
      onClose={onClose}
    >
      <div className="flex flex-col gap-1 text-md">{touches}</div>
      {fields}
      {hasReason && (
        <label className="flex flex-col gap-1">
          <span className="label">{reasonLabel}</span>
          <input className="field" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </label>
      )}
    </FormSheet>
  )
}

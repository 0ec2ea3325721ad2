// A sheet with a form that does one thing: its fields, the same as a command, and the refusal if there is one. What was typed stays
// then. It closes only where its owner says so.

import { type ReactNode, useId, useState } from 'react'
import { Sheet } from './sheet.tsx'
import { messageOf } from './states.tsx'
import { CommandLine, Copy } from './texts.tsx'

export interface FormSheetProps {
  readonly title: string
  /** On the button. */
  readonly verb: string
  readonly command: string
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  /** What it throws is shown. */
  readonly submit: () => Promise<void>
  readonly onClose: () => void
  readonly children: ReactNode
}

export function FormSheet(props: FormSheetProps) {
  const { title, verb, command, isDangerous = false, isReady = true, submit, onClose, children } = props
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const id = useId()
  const act = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await submit()
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  return (
    <Sheet
      kind="middle"
      title={title}
      onClose={onClose}
      actions={
        <>
          <button
            type="submit"
            form={id}
            className={`button ${isDangerous ? 'button-danger' : 'button-main'}`}
            disabled={isBusy || !isReady}
          >
            {isBusy ? 'Working …' : verb}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void act()
        }}
      >
        {children}
        <div className="flex flex-col gap-1">
          <span className="label">The same as a command</span>
          <CommandLine command={command} />
        </div>
        {error !== null && (
          <p role="alert" className="rounded-sm bg-dead-soft px-2 py-1.5">
            <span className="text-dead">✕ Refused.</span> <bdi>{messageOf(error)}</bdi>
          </p>
        )}
      </form>
    </Sheet>
  )
}

export function Field({
  label,
  value,
  onChange,
  example,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly example: string
}) {
  return (
    <label className="flex flex-col gap-1">
      <span className="label">{label}</span>
      <input
        className="field"
        value={value}
        maxLength={2_000}
        placeholder={example}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}

/** A secret that the server does not tell again. */
export function ShownOnce({
  title,
  says,
  secret,
  onClose,
}: {
  readonly title: string
  readonly says: string
  readonly secret: string
  readonly onClose: () => void
}) {
  return (
    <Sheet kind="middle" title={title} onClose={onClose}>
      <p className="mb-2 text-md">{says}</p>
      <div className="flex items-start gap-2 rounded-sm bg-sunken px-2 py-1.5">
        <code className="min-w-0 flex-1 font-mono text-sm break-all">{secret}</code>
        <Copy text={secret} />
      </div>
    </Sheet>
  )
}

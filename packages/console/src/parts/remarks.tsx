// What people wrote about one thing, and a field for the next remark: notes on tasks and causes, comments on work orders.

import { useState } from 'react'
import { useMay } from '../api/me.ts'
import { refresh } from '../api/operations.ts'
import { messageOf } from './states.tsx'
import { Ago } from './texts.tsx'

interface Remark {
  readonly text: string
  readonly by: string
  readonly at: number
}

export interface RemarksProps {
  readonly remarks: readonly Remark[]
  /** Where there are none yet. */
  readonly none: string
  readonly label: string
  readonly hint: string
  readonly verb: string
  readonly maxLength: number
  readonly add: (text: string) => Promise<unknown>
}

export function Remarks({ remarks, none, label, hint, verb, maxLength, add }: RemarksProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(null)
  const mayOperate = useMay('operate')
  const submit = async (): Promise<void> => {
    setError(null)
    try {
      await add(text.trim())
      setText('')
      await refresh()
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <div className="flex flex-col gap-2">
      {remarks.length === 0 && <p className="text-dim">{none}</p>}
      <ul className="flex flex-col gap-1.5">
        {remarks.map(({ text: said, by, at }) => (
          <li key={`${at} ${by} ${said}`}>
            <bdi className="break-words whitespace-pre-wrap">{said}</bdi>{' '}
            <span className="text-sm whitespace-nowrap text-dim">
              <bdi>{by}</bdi>, <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
      {mayOperate && (
        <form
          className="flex max-w-xl gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            void submit()
          }}
        >
          <input
            className="field"
            aria-label={label}
            placeholder={hint}
            maxLength={maxLength}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" className="button" disabled={text.trim() === ''}>
            {verb}
          </button>
        </form>
      )}
      {error !== null && (
        <p role="alert" className="text-dead">
          ✕ {messageOf(error)}
        </p>
      )}
    </div>
  )
}

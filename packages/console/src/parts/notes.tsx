// What operators noted on a task or a cause, and a field for the next note.

import { useState } from 'react'
import { call } from '../api/client.ts'
import { useMay } from '../api/me.ts'
import { refresh } from '../api/operations.ts'
import { messageOf } from './states.tsx'
import { Ago } from './texts.tsx'

interface Note {
  readonly id: string
  readonly text: string
  readonly by: string
  readonly at: number
}

export function Notes({
  notes,
  on,
}: {
  readonly notes: readonly Note[]
  readonly on: { readonly task: string } | { readonly fingerprint: string }
}) {
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(null)
  const mayOperate = useMay('operate')
  const add = async (): Promise<void> => {
    setError(null)
    try {
      await call('addNote', { ...on, text: text.trim() })
      setText('')
      await refresh()
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <div className="flex flex-col gap-2">
      {notes.length === 0 && <p className="text-dim">Nobody has noted anything yet.</p>}
      <ul className="flex flex-col gap-1.5">
        {notes.map(({ id, text: said, by, at }) => (
          <li key={id}>
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
            void add()
          }}
        >
          <input
            className="field"
            aria-label="A note for the next person"
            placeholder="A note for the next person"
            maxLength={2_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" className="button" disabled={text.trim() === ''}>
            Add
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

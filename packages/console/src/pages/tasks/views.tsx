// How the reader likes the list of tasks: queries that they gave a name, and which columns they see. Both stay in this browser; any
// view can be sent to a colleague as its address.

import { type FormEvent, useId, useState } from 'react'
import { Choice } from '../../parts/choice.tsx'
import { isQuery } from '../../parts/query-field.tsx'
import { prefer, usePreferences } from '../../preferences.ts'

/** To begin with. */
const VIEWS = [
  ['', 'All'],
  ['status:live', 'Live'],
  ['status:running', 'Running'],
  ['status:waiting', 'Waiting'],
  ['status:dead', 'Dead'],
  ['status:dead died<1h', 'Died this hour'],
] as const

const NAME_MAX = 40

export function Views({ q, onChange }: { readonly q: string; readonly onChange: (q: string) => void }) {
  const { views } = usePreferences()
  const [name, setName] = useState<string | null>(null)
  const saved = views.find((view) => view.q === q)
  const isNew = saved === undefined && q !== '' && isQuery(q) && !VIEWS.some(([one]) => one === q)
  const save = (event: FormEvent): void => {
    event.preventDefault()
    const given = name?.trim() ?? ''
    if (given === '') return
    prefer({ views: [...views.filter((view) => view.name !== given), { name: given, q }] })
    setName(null)
  }
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-1">
      <Choice
        label="Views"
        value={q}
        options={[...VIEWS, ...views.map((view) => [view.q, view.name] as const)]}
        onChange={onChange}
      />
      {saved !== undefined && (
        <button
          type="button"
          className="button h-7 text-sm"
          onClick={() => prefer({ views: views.filter((view) => view !== saved) })}
        >
          Forget “<bdi className="max-w-40 truncate">{saved.name}</bdi>”
        </button>
      )}
      {isNew && name === null && (
        <button type="button" className="button h-7 text-sm" onClick={() => setName('')}>
          Save this view
        </button>
      )}
      {isNew && name !== null && (
        <form className="flex gap-1" onSubmit={save}>
          <input
            className="field h-7 w-36"
            aria-label="Name of the view"
            placeholder="Its name"
            autoFocus={true}
            maxLength={NAME_MAX}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="button h-7 text-sm" disabled={name.trim() === ''}>
            Save
          </button>
        </form>
      )}
    </div>
  )
}

export function Columns({ of }: { readonly of: readonly { readonly id: string; readonly title: string }[] }) {
  const { hidden } = usePreferences()
  const id = useId()
  const toggle = (column: string): void =>
    prefer({ hidden: hidden.includes(column) ? hidden.filter((one) => one !== column) : [...hidden, column] })
  return (
    <details className="relative max-sm:hidden">
      <summary className="button h-7 list-none text-sm" id={id}>
        Columns
      </summary>
      <fieldset
        aria-labelledby={id}
        className="absolute right-0 z-10 mt-1 flex w-44 flex-col gap-1 rounded-sm border border-edge bg-raised p-2"
      >
        {of.map((column) => (
          <label key={column.id} className="flex items-center gap-2">
            <input type="checkbox" checked={!hidden.includes(column.id)} onChange={() => toggle(column.id)} />
            {column.title}
          </label>
        ))}
      </fieldset>
    </details>
  )
}

// ⌘K: every page and every action by typing a part of its name; and straight to a task or a cause by its id.

import { useId, useMemo, useState } from 'react'
import { navigate } from '../address.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { type Command, useAllCommands } from './commands.ts'

const TASK_ID = /^[\w.:~-]{20,}$/
const FINGERPRINT = /^[0-9a-f]{16}$/

/** All words must be there, in any order; what begins with them comes first. */
function found(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return commands
    .filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
    .toSorted((one, other) => place(one, text) - place(other, text))
}

const place = ({ title }: Command, text: string): number => (title.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1)

export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = useAllCommands()
  const listId = useId()
  const asked = text.trim()
  const shown = useMemo(() => {
    const direct: Command[] = []
    if (FINGERPRINT.test(asked))
      direct.push({ title: `Open cause ${asked}`, group: 'Go to', run: () => navigate(`/failures/${asked}`) })
    if (TASK_ID.test(asked))
      direct.push({
        title: `Open task ${asked}`,
        group: 'Go to',
        run: () => navigate(`/tasks/${encodeURIComponent(asked)}`),
      })
    return [...direct, ...found(commands, asked)]
  }, [commands, asked])
  const chosen = Math.min(at, Math.max(shown.length - 1, 0))
  const run = (command: Command | undefined): void => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  return (
    <Sheet kind="middle" title="Go to a page, or do something" onClose={onClose}>
      <input
        className="field"
        role="combobox"
        aria-label="Command, page, task id or fingerprint"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={shown.length === 0 ? undefined : `${listId}-${chosen}`}
        placeholder="Type a page, an action, a task id …"
        value={text}
        autoFocus={true}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, shown.length - 1))
          else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
          else if (event.key === 'Enter') run(shown[chosen])
          else return
          event.preventDefault()
        }}
      />
      {shown.length === 0 && <p className="py-3 text-dim">Nothing is called that.</p>}
      <div role="listbox" aria-label="Found" id={listId} className="mt-2 flex flex-col">
        {shown.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={`${command.group} ${command.title}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={`flex h-8 cursor-pointer items-center gap-3 rounded-sm px-2 ${index === chosen ? 'bg-accent-soft' : ''}`}
            onClick={() => run(command)}
            onPointerMove={() => setAt(index)}
          >
            <span className="min-w-0 flex-1 truncate">{command.title}</span>
            <span className="text-sm text-dim">{command.group}</span>
            {command.key !== undefined && <Keys of={command.key} />}
          </div>
        ))}
      </div>
    </Sheet>
  )
}

export function Keys({ of }: { readonly of: string }) {
  return (
    <span className="inline-flex gap-1">
      {of.split(' ').map((key) => (
        <kbd key={key} className="min-w-5 rounded-sm border border-line bg-sunken px-1 text-center font-mono text-xs">
          {key}
        </kbd>
      ))}
    </span>
  )
}

// One field for a query: what could come next is offered, and a mistake is underlined at its place and explained. What is typed
// counts after Enter, or when the field is left.

import { completions, isRepriseError, parseQuery } from '@reprise/core'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useCommands } from '../shell/commands.ts'

interface QueryFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder: string
}

interface Mistake {
  readonly at: number
  readonly says: string
}

const OPTIONS_MAX = 12

function mistakeIn(text: string): Mistake | null {
  try {
    parseQuery(text)
    return null
  } catch (error) {
    if (!isRepriseError(error)) return { at: 0, says: String(error) }
    const at = 'position' in error && typeof error.position === 'number' ? error.position : 0
    return { at, says: error.message }
  }
}

/** Whether it can be asked: what the server would refuse is not sent. */
export const isQuery = (text: string): boolean => mistakeIn(text) === null

export function QueryField({ value, onChange, placeholder }: QueryFieldProps) {
  const [text, setText] = useState(value)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  const [scrolled, setScrolled] = useState(0)
  const id = useId()
  useEffect(() => setText(value), [value])
  useCommands([{ title: 'Query', key: '/', group: 'On this page', run: () => field.current?.focus() }])
  const mistake = mistakeIn(text)
  const place = field.current?.selectionStart ?? text.length
  const { from, options: all } = completions(text.slice(0, place))
  const options = isOpen ? all.filter((option) => option.text !== text.slice(from, place)).slice(0, OPTIONS_MAX) : []
  const take = (index: number): void => {
    const option = options[index]
    if (option === undefined) return
    const isField = /[:>]$/.test(option.text)
    setText(`${text.slice(0, from)}${option.text}${isField ? '' : ' '}${text.slice(place).trimStart()}`)
    setChosen(-1)
    field.current?.focus()
  }
  const commit = (): void => {
    setOpen(false)
    if (mistake === null && text.trim() !== value) onChange(text.trim())
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' && options.length > 0) setChosen((chosen + 1) % options.length)
    else if (event.key === 'ArrowUp' && options.length > 0) setChosen((chosen - 1 + options.length) % options.length)
    else if ((event.key === 'Tab' || event.key === 'Enter') && chosen >= 0) take(chosen)
    else if (event.key === 'Enter') commit()
    else if (event.key === 'Escape' && isOpen) setOpen(false)
    else return
    event.preventDefault()
  }
  return (
    <div className="relative">
      <input
        ref={field}
        className={`field font-mono ${mistake === null ? '' : 'border-dead'}`}
        role="combobox"
        aria-label="Query"
        aria-expanded={options.length > 0}
        aria-controls={`${id}-options`}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-invalid={mistake !== null}
        aria-describedby={mistake === null ? undefined : `${id}-mistake`}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        maxLength={1_000}
        placeholder={placeholder}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setOpen(true)
          setChosen(-1)
        }}
        onFocus={() => setOpen(true)}
        onBlur={commit}
        onKeyDown={press}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollLeft)}
      />
      {mistake !== null && <Underline text={text} from={mistake.at} scrolled={scrolled} />}
      {mistake !== null && (
        <p id={`${id}-mistake`} role="alert" className="mt-0.5 text-sm text-dead">
          {mistake.says}
        </p>
      )}
      <div
        id={`${id}-options`}
        role="listbox"
        aria-label="What could come next"
        className={`absolute inset-x-0 top-full z-10 mt-0.5 max-w-xl rounded-sm border border-edge bg-raised py-1 ${options.length === 0 ? 'hidden' : ''}`}
      >
        {options.map((option, index) => (
          <div
            key={option.text}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={`flex cursor-pointer gap-4 px-2 py-0.5 ${index === chosen ? 'bg-accent-soft' : ''}`}
            onPointerDown={(event) => {
              event.preventDefault()
              take(index)
            }}
          >
            <span className="font-mono">{option.text}</span>
            <span className="truncate text-sm text-dim">{option.hint}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

/** The same text over the field, unseen but for a line under the word with the mistake. A mistake at the end has a place to stand. */
function Underline({
  text,
  from,
  scrolled,
}: {
  readonly text: string
  readonly from: number
  readonly scrolled: number
}) {
  const [word = ' '] = /^\S+/.exec(text.slice(from)) ?? []
  return (
    <span
      aria-hidden="true"
      className="pointer-events-none absolute inset-x-0 top-0 mx-[9px] block h-8 overflow-hidden font-mono text-base leading-8 whitespace-pre text-transparent"
    >
      <span className="inline-block" style={{ transform: `translateX(${-scrolled}px)` }}>
        {text.slice(0, from)}
        <span data-mistake="" className="underline decoration-dead decoration-wavy underline-offset-4">
          {word}
        </span>
      </span>
    </span>
  )
}

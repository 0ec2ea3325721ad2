// An editor for a text of some length: colours, completion, and problems underlined at their place. It comes along only with
// pages that use it.
//
// It lives in a shadow root: there the editor puts its styles into sheets made by script, which the content policy of the page
// allows, and not into a <style> element, which it refuses. Tab leaves the editor, as it leaves every other field.

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

/** Line and column from 1. */
export interface PlacedProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

export interface Completions {
  /** Where what is replaced begins. */
  readonly from: number
  readonly options: readonly { readonly text: string; readonly hint: string }[]
}

export interface CodeEditorProps {
  readonly label: string
  /** What it begins with; `document` another one begins it anew. */
  readonly value: string
  readonly document: string
  readonly onChange: (text: string) => void
  readonly problems: readonly PlacedProblem[]
  /** What could come next, at the end of this text. */
  readonly complete: (before: string) => Completions | null
  readonly isReadOnly: boolean
}

const LOOK = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', backgroundColor: 'var(--color-raised)', color: 'var(--color-ink)' },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--color-ink)', padding: '6px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': { backgroundColor: 'var(--color-sunken)', color: 'var(--color-dim)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklch, var(--color-sunken) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--color-accent-soft)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--color-raised)',
    color: 'var(--color-ink)',
    border: '1px solid var(--color-edge)',
    borderRadius: '3px',
    maxWidth: 'min(480px, 90vw)',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '220px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--color-accent-soft)',
    color: 'var(--color-ink)',
  },
  '.cm-completionDetail': { color: 'var(--color-dim)', fontStyle: 'normal', marginLeft: '12px' },
  '.cm-diagnostic': { fontFamily: 'var(--font-sans)', padding: '4px 8px', borderLeft: 'none' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--color-dead)',
    textUnderlineOffset: '3px',
  },
})

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--color-accent)' },
  { tag: [tags.string, tags.content], color: 'var(--color-ink)' },
  { tag: [tags.number, tags.bool, tags.keyword], color: 'var(--color-held)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--color-dim)' },
])

export default function CodeEditor(props: CodeEditorProps) {
  const { label, value, document: of, problems, isReadOnly } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: another document, or other rights, begin it anew
  useEffect(() => {
    const { current } = host
    if (current === null) return
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    const place = document.createElement('div')
    place.style.height = '100%'
    root.replaceChildren(place)
    const made = new EditorView({
      parent: place,
      root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          highlightActiveLine(),
          drawSelection(),
          history(),
          indentOnInput(),
          indentUnit.of('  '),
          yaml(),
          syntaxHighlighting(COLOURS),
          autocompletion({ override: [(at) => offered(at, latest.current.complete)], icons: false }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.editable.of(!isReadOnly),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onChange(state.doc.toString())
          }),
          LOOK,
        ],
      }),
    })
    view.current = made
    return () => {
      closeCompletion(made)
      made.destroy()
      view.current = null
    }
  }, [of, isReadOnly])
  useEffect(() => {
    const { current } = view
    if (current !== null) current.dispatch(setDiagnostics(current.state, diagnosticsOf(current.state, problems)))
  }, [problems])
  return <div ref={host} data-own-keys="" className="h-full min-h-0 rounded-sm border border-edge" />
}

function offered(at: CompletionContext, complete: CodeEditorProps['complete']): CompletionResult | null {
  const found = complete(at.state.sliceDoc(0, at.pos))
  if (found === null || found.options.length === 0 || (!at.explicit && found.from === at.pos)) return null
  return {
    from: found.from,
    options: found.options.map(({ text, hint }) => ({ label: text, detail: hint })),
    validFor: /^[\w-]*$/,
  }
}

function diagnosticsOf({ doc }: EditorState, problems: readonly PlacedProblem[]): Diagnostic[] {
  return problems.map(({ line, column, message }) => {
    const { from: start, to: end, text } = doc.line(Math.min(Math.max(line, 1), doc.lines))
    const from = Math.min(start + Math.max(column - 1, 0), end)
    const [word = ''] = /^[\w.*-]+/.exec(text.slice(from - start)) ?? []
    return { from, to: word === '' ? Math.max(end, from) : from + word.length, severity: 'error', message }
  })
}

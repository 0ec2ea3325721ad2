// What a command says, in the form that was asked for: tables for people, JSON for programs. With json and jsonl nothing but
// the data goes to standard output; whatever else there is to say goes to standard error, and not at all with --quiet.

import { type ColourWish, type Paint, painter, type Style } from './colours.ts'
import { plain, plainLines, widthOf, wrapTo } from './plain-text.ts'
import { type Progress, progressBar } from './progress.ts'
import { type Column, recordText, tableText } from './table.ts'

export const FORMATS = ['table', 'json', 'jsonl'] as const
export type Format = (typeof FORMATS)[number]

/** A stream of text; `process.stdout` is one. */
export interface Sink {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

export interface OutputOptions {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly format: Format
  readonly quiet: boolean
  readonly noColour: boolean
  readonly env: ColourWish['env']
  readonly now: () => number
}

type Field = readonly [name: string, value: string | number | null | undefined]

const COLUMNS = 80

/** A terminal without a size, as of some recorders and containers, says 0. */
const columnsOf = ({ columns = 0 }: Sink): number => (columns > 0 ? columns : COLUMNS)

/** Broken at words where the terminal ends; as it is where there is none, whose reader may want to search it. */
export const wrappedFor = (sink: Sink, text: string, indent = 0): string =>
  sink.isTTY === true
    ? text
        .split('\n')
        .flatMap((line) => wrapTo(line, Math.max(columnsOf(sink) - indent, 1)))
        .join(`\n${' '.repeat(indent)}`)
    : text

export class Output {
  readonly format: Format
  readonly now: () => number
  /** For standard output. */
  readonly paint: Paint
  readonly paintError: Paint
  readonly #options: OutputOptions

  constructor(options: OutputOptions) {
    this.#options = options
    this.format = options.format
    this.now = options.now
    const wish = (sink: Sink): ColourWish => ({
      off: options.noColour,
      env: options.env,
      isTerminal: sink.isTTY === true,
    })
    this.paint = painter(wish(options.stdout))
    this.paintError = painter(wish(options.stderr))
  }

  get isForPeople(): boolean {
    return this.format === 'table'
  }

  /** Many things of one kind. Programs get `items` as they are; people a table of them, or a sentence if there are none. */
  list<Row>(items: readonly Row[], columns: readonly Column<Row>[], none: string): void {
    if (this.format === 'json') this.#json(items, 2)
    else if (this.format === 'jsonl') for (const item of items) this.#json(item)
    else if (items.length === 0) this.note(none)
    else this.#options.stdout.write(tableText(items, columns, { width: this.#width(), paint: this.paint }))
  }

  /** One thing. Programs get `value`; people what `shown` writes. */
  one(value: unknown, shown: (people: People) => void): void {
    if (this.format === 'table') shown(this.#people())
    else this.#json(value, this.format === 'json' ? 2 : undefined)
  }

  /** One of a stream that has no end: a line of JSON, or what `shown` writes. With json, too, one line for each. */
  event(value: unknown, shown: (people: People) => void): void {
    if (this.format === 'table') shown(this.#people())
    else this.#json(value)
  }

  /** Text of our own as it is, whatever the format: a script. */
  raw(text: string): void {
    this.#options.stdout.write(text)
  }

  /** Beside the data, for people who watch. */
  note(text: string): void {
    if (!this.#options.quiet) this.#options.stderr.write(`${wrappedFor(this.#options.stderr, plain(text))}\n`)
  }

  warn(text: string): void {
    const [head, sink] = ['warning:', this.#options.stderr]
    const whole = wrappedFor(sink, `${head} ${plain(text)}`)
    sink.write(`${this.paintError('yellow', head)}${whole.slice(head.length)}\n`)
  }

  progress(label: string): Progress {
    const { stderr, quiet } = this.#options
    const isTerminal = stderr.isTTY === true && !quiet
    const sink = { isTerminal, columns: columnsOf(stderr), write: (text: string) => void stderr.write(text) }
    return progressBar(label, sink, this.now)
  }

  /** Data that is JSON already. A terminal gets its unseen characters as escapes: the same JSON value, and nothing it obeys. */
  json(text: string): void {
    const { stdout } = this.#options
    stdout.write(`${stdout.isTTY === true ? plainLines(text) : text}\n`)
  }

  #json(value: unknown, indent?: number): void {
    this.json(JSON.stringify(value ?? null, null, indent))
  }

  /** Without a terminal nothing is cut: its reader may want to search it. */
  #width(): number | null {
    const { stdout } = this.#options
    return stdout.isTTY === true ? columnsOf(stdout) : null
  }

  #people(): People {
    const { stdout } = this.#options
    return {
      line: (text = '') => void stdout.write(`${text}\n`),
      beside: (head, text, style = 'bold') => {
        const room = this.#width()
        const indent = widthOf(head)
        const lines = room === null ? [text] : wrapTo(text, Math.max(room - indent, 1))
        for (const [at, one] of lines.entries())
          stdout.write(`${at === 0 ? this.paint(style, head) : ' '.repeat(indent)}${one}\n`)
      },
      prose: (text, look = {}) => {
        const { indent = 0, style } = look
        const room = this.#width()
        for (const one of room === null ? [text] : wrapTo(text, Math.max(room - indent, 1)))
          stdout.write(`${' '.repeat(indent)}${style === undefined ? one : this.paint(style, one)}\n`)
      },
      fields: (fields) => void stdout.write(recordText(fields, { width: this.#width(), paint: this.paint })),
      table: (rows, columns) =>
        void stdout.write(tableText(rows, columns, { width: this.#width(), paint: this.paint })),
      paint: this.paint,
      columns: this.#width(),
    }
  }
}

/** How something is shown to people. `line` writes as it is told: what came from elsewhere goes through `plain` first. */
export interface People {
  readonly line: (text?: string) => void
  /** Plain text beside its head; what does not fit goes on below, under the text. */
  readonly beside: (head: string, text: string, style?: Style) => void
  /** Sentences of plain text, broken at words where the terminal ends. */
  readonly prose: (text: string, look?: { readonly indent?: number; readonly style?: Style }) => void
  readonly fields: (fields: readonly Field[]) => void
  readonly table: <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) => void
  readonly paint: Paint
  /** How wide the terminal is; null if there is none, and nothing has to be cut. */
  readonly columns: number | null
}

// The demo on a terminal: a frame that is redrawn in place, at most ten times a second. What is in a frame is
// live-frame.ts; this file only moves the cursor, and gives the terminal back as it was.

import type { WriteStream } from 'node:tty'
import { frame } from './live-frame.ts'
import type { DemoProgress } from './progress.ts'
import type { DemoEvent, DemoTitle, View } from './view.ts'
import { type Paint, paintFor } from './words.ts'

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_SCREEN = '\u001b[2J\u001b[H'
const upBy = (lines: number): string => (lines === 0 ? '\r' : `\u001b[${lines}A\r`)

const FRAME_MS_MIN = 100
const EVENTS_MAX = 50

export class LiveView implements View {
  readonly #output: WriteStream
  readonly #title: DemoTitle
  readonly #paint: Paint
  #events: DemoEvent[] = []
  #progress: DemoProgress | null = null
  #drawnAt = Number.NEGATIVE_INFINITY
  #drawnLines = 0
  #isOpen = true

  constructor(output: WriteStream, title: DemoTitle) {
    this.#output = output
    this.#title = title
    this.#paint = paintFor(output)
    output.write(HIDE_CURSOR)
    output.on('resize', this.#redraw)
  }

  announce(event: DemoEvent): void {
    this.#events = [...this.#events, event].slice(-EVENTS_MAX)
  }

  show(progress: DemoProgress): void {
    this.#progress = progress
    const now = performance.now()
    if (now - this.#drawnAt < FRAME_MS_MIN) return
    this.#drawnAt = now
    this.#draw()
  }

  close(): void {
    if (!this.#isOpen) return
    // The last word: what was shown too soon after the frame before is on the screen when the demo ends.
    this.#draw()
    this.#isOpen = false
    this.#output.off('resize', this.#redraw)
    this.#output.write(SHOW_CURSOR)
  }

  /** Lines of another width may have wrapped, so their number says nothing any more: start on a clean screen. */
  readonly #redraw = (): void => {
    this.#output.write(CLEAR_SCREEN)
    this.#drawnLines = 0
    this.#draw()
  }

  #draw(): void {
    if (!this.#isOpen || this.#progress === null) return
    // A terminal that does not know its size says 0.
    const size = { columns: this.#output.columns || 80, rows: this.#output.rows || 24 }
    const lines = frame(this.#title, this.#progress, this.#events, size, this.#paint)
    const text = lines.map((line) => `${line}${CLEAR_LINE_END}\n`).join('')
    this.#output.write(upBy(this.#drawnLines) + text + CLEAR_BELOW)
    this.#drawnLines = lines.length
  }
}

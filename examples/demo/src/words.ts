// How the demo writes numbers, times and colours. Colours only ever appear on a terminal that wants them.

import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Gives text a style, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string

/** styleText asks the stream and NO_COLOR; what is not a terminal never gets a code, not even with FORCE_COLOR. */
export function paintFor(output: NodeJS.WriteStream): Paint {
  return (style, text) => (output.isTTY ? styleText(style, text, { stream: output }) : text)
}

export const grouped = (value: number): string => value.toLocaleString('en-US')

export const seconds = (ms: number): string => `${(Math.max(ms, 0) / 1_000).toFixed(1)} s`

/** Text in exactly this many columns. */
export function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(width - 1, 0))}…` : text.padEnd(width)
}

/** At most this many columns. */
export function clip(text: string, width: number): string {
  return fit(text, width).trimEnd()
}

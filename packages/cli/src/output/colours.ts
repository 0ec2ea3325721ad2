// Colours, where they are wanted: on a terminal, unless NO_COLOR or --no-color says otherwise, and wherever FORCE_COLOR
// asks for them. They only ever repeat what the words say.

import { styleText } from 'node:util'

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold'
export type Paint = (style: Style, text: string) => string

export interface ColourWish {
  /** --no-color. */
  readonly off: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}

export function painter(wish: ColourWish): Paint {
  if (!wantsColour(wish)) return (_, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}

function wantsColour({ off, env, isTerminal }: ColourWish): boolean {
  if (off) return false
  const { NO_COLOR = '', FORCE_COLOR, TERM } = env
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return NO_COLOR === '' && isTerminal && TERM !== 'dumb'
}

/** The colour of a status, a state or a verdict, wherever it is shown. */
const STATUS_STYLES: Readonly<Record<string, Style>> = {
  succeeded: 'green',
  healthy: 'green',
  ok: 'green',
  closed: 'green',
  running: 'cyan',
  queued: 'cyan',
  waiting: 'yellow',
  degraded: 'yellow',
  warn: 'yellow',
  paused: 'yellow',
  half_open: 'yellow',
  lost: 'red',
  failed: 'red',
  dead: 'red',
  unhealthy: 'red',
  fail: 'red',
  open: 'red',
  cancelled: 'dim',
  discarded: 'dim',
}

export const statusStyle = (status: string): Style | null => STATUS_STYLES[status] ?? null

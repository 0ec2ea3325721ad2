// How numbers, times and spans are written, everywhere the same: exact, short, and of steady width.

const WHOLE = new Intl.NumberFormat('en-US')
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})
const HOUR_MINUTE = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
const DATE = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const DAY = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
})

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY_MS = 24 * HOUR

/** 1,204,310 */
export const count = (value: number): string => WHOLE.format(value)

/** 1.2M, where there is no room. */
export const short = (value: number): string => SHORT.format(value)

/** A number and its sign stay on one line. */
const percentOf = (value: string): string => `${value}\u00a0%`

/** 98 %, and never 100 % or 0 % unless it is all or none. */
export function share(part: number, of: number): string {
  if (of === 0) return '–'
  const percent = (100 * part) / of
  if (percent > 0 && percent < 1) return percentOf('<1')
  if (percent < 100 && percent > 99) return percentOf('>99')
  return percentOf(String(Math.round(percent)))
}

/** 52 ms, 3.4 s, 4 m 10 s, 2 h 5 m, 3 d 4 h */
export function span(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`
  if (ms < HOUR) return two(ms, MINUTE, 'm', SECOND, 's')
  if (ms < DAY_MS) return two(ms, HOUR, 'h', MINUTE, 'm')
  return two(ms, DAY_MS, 'd', HOUR, 'h')
}

function two(ms: number, large: number, one: string, small: number, other: string): string {
  const whole = Math.floor(ms / large)
  const rest = Math.floor((ms - whole * large) / small)
  return rest === 0 ? `${whole} ${one}` : `${whole} ${one} ${rest} ${other}`
}

/** 4 s ago, 12 m ago, in 8 s: one unit, so that columns of it are calm. */
export function ago(at: number, now: number): string {
  const ms = Math.abs(now - at)
  const [value, unit] =
    ms < MINUTE
      ? [ms / SECOND, 's']
      : ms < HOUR
        ? [ms / MINUTE, 'm']
        : ms < DAY_MS
          ? [ms / HOUR, 'h']
          : [ms / DAY_MS, 'd']
  const words = `${Math.floor(value)} ${unit}`
  if (ms < SECOND) return 'now'
  return at > now ? `in ${words}` : `${words} ago`
}

/** The moment by this reader's clock and by UTC. */
export const moment = (at: number): string =>
  `${LOCAL.format(at)} · ${new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC')}`

/** 09:41:07 */
export const clock = (at: number): string => CLOCK.format(at)

/** 09:41 */
export const hour = (at: number): string => HOUR_MINUTE.format(at)

/** Nov 18 */
export const day = (at: number): string => DATE.format(at)

/** 09:41:07 today, with its day before. */
export const when = (at: number, now: number): string => (now - at < 12 * HOUR ? CLOCK.format(at) : DAY.format(at))

/** one task, 2 tasks */
export const many = (value: number, one: string, more = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : more}`

const ID_MAX = 14
const ID_END = 12

/** The last part of an id: that is where ids of one job, or of one moment, differ. */
export const shortId = (id: string): string => {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id)) return id.slice(-ID_END)
  return id.length > ID_MAX ? `…${id.slice(-ID_END)}` : id
}

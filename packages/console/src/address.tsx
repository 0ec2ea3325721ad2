// The address is the state: which page, and everything that it shows, is read off the address and written there. Any view can be
// sent to a colleague, and Back always works. The browser's own history is all it takes; parameters are plain text.

import {
  type AnchorHTMLAttributes,
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'

export type Params = Readonly<Record<string, string>>

const listeners = new Set<() => void>()

function heard(): void {
  for (const listener of listeners) listener()
}

window.addEventListener('popstate', heard)

const useHref = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => `${window.location.pathname}${window.location.search}`,
  )

export const usePath = (): string => useHref().split('?', 1)[0] ?? '/'

/** Goes to an address of the console. A step of its own in the history, unless `quietly`. */
export function navigate(to: string, quietly = false): void {
  if (to === `${window.location.pathname}${window.location.search}`) return
  const isSamePage = to.split('?', 1)[0] === window.location.pathname
  if (quietly) window.history.replaceState(null, '', to)
  else window.history.pushState(null, '', to)
  heard()
  if (!isSamePage) document.getElementById('main')?.scrollTo(0, 0)
}

/** A path with parameters; empty ones are left out. */
export function address(path: string, params: Readonly<Record<string, string | null | undefined>> = {}): string {
  const kept = Object.entries(params).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  )
  const text = new URLSearchParams(kept).toString()
  return text === '' ? path : `${path}?${text}`
}

export function useParams(): Params {
  const href = useHref()
  return useMemo(() => Object.fromEntries(new URLSearchParams(href.split('?')[1] ?? '')), [href])
}

/** Changes parameters of the page that is shown: null takes one out. */
export function setParams(change: Readonly<Record<string, string | null>>, quietly = false): void {
  const old = Object.fromEntries(new URLSearchParams(window.location.search))
  navigate(address(window.location.pathname, { ...old, ...change }), quietly)
}

/** One parameter, with what it is if missing. */
export function useParam(
  name: string,
  missing = '',
): readonly [string, (value: string | null, quietly?: boolean) => void] {
  const params = useParams()
  const write = useCallback(
    (value: string | null, quietly?: boolean) => setParams({ [name]: value === missing ? null : value }, quietly),
    [name, missing],
  )
  return [params[name] ?? missing, write]
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: string
  readonly children: ReactNode
}

/** A link within the console: a plain one for the browser, and no new page load for a plain click. */
export function Link({ to, onClick, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      onClick={(event) => {
        onClick?.(event)
        if (
          event.defaultPrevented ||
          event.button !== 0 ||
          event.metaKey ||
          event.ctrlKey ||
          event.shiftKey ||
          event.altKey
        )
          return
        event.preventDefault()
        navigate(to)
      }}
    >
      {children}
    </a>
  )
}

/** The parts of the path that vary, for the page that is shown. */
export const PathParts = createContext<Params>({})

/** One part of the path that varies: `id` of `/tasks/$id`. */
export const usePart = (name: string): string => useContext(PathParts)[name] ?? ''

/** The parts of a path that fits a pattern such as `/tasks/$id`; null if it does not. */
export function partsOf(pattern: string, path: string): Params | null {
  const wanted = pattern.split('/')
  const given = path.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const parts: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const is = given[index] ?? ''
    if (part.startsWith('$')) {
      try {
        parts[part.slice(1)] = decodeURIComponent(is)
      } catch {
        return null
      }
    } else if (part !== is) return null
  }
  return parts
}

// What is around every page: the navigation, the bar with the palette, the live light and the theme, and what opens over a page.

import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, navigate, usePath } from '../address.tsx'
import { useIsAnswering } from '../api/answering.ts'
import { isSignedOut } from '../api/client.ts'
import { useMe } from '../api/me.ts'
import { useOperation } from '../api/operations.ts'
import { startLive, useLiveState } from '../live/live.ts'
import { PAGES, type PageEntry } from '../pages.ts'
import { Failed, Waiting } from '../parts/states.tsx'
import { prefer, usePreferences } from '../preferences.ts'
import { setStoreTime } from '../time.ts'
import { listenForKeys, useCommands } from './commands.ts'
import { Outlet } from './outlet.tsx'
import { SignIn, signOut } from './sign-in.tsx'
import { Toasts } from './toasts.tsx'

const Palette = lazy(() => import('./palette.tsx'))
const KeysHelp = lazy(() => import('./keys-help.tsx'))

type Open = 'palette' | 'keys' | null

export function Shell() {
  const me = useMe()
  if (me.error !== null && me.data === undefined) {
    if (isSignedOut(me.error)) return <SignIn />
    return (
      <main className="p-4">
        <Failed error={me.error} what="Who you are" />
      </main>
    )
  }
  if (me.data === undefined) return <Waiting what="who you are" />
  if (me.error !== null && isSignedOut(me.error)) return <SignIn hasEnded={true} />
  return <SignedIn />
}

/** The pages that this person may see. */
export function usePages(): readonly PageEntry[] {
  const { data } = useMe()
  return PAGES.filter(({ needs, tenants }) => {
    if (data === undefined || !data.scopes.includes('read')) return false
    if (needs !== undefined && !data.scopes.includes(needs)) return false
    return tenants !== 'all' || data.tenants === null
  })
}

function SignedIn() {
  const [open, setOpen] = useState<Open>(null)
  const pages = usePages()
  const { theme, density } = usePreferences()
  const info = useOperation('info', {}, { everyMs: 300_000, live: false })
  const now = info.data?.now
  useEffect(() => {
    if (now !== undefined) setStoreTime(now)
  }, [now])
  useEffect(startLive, [])
  useEffect(
    () =>
      listenForKeys((event) => {
        if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
          event.preventDefault()
          setOpen('palette')
        }
      }),
    [],
  )
  useCommands([
    ...pages
      .filter(({ icon }) => icon !== undefined)
      .map(({ title, key, path }) => ({
        title,
        group: 'Go to' as const,
        run: () => navigate(path),
        ...(key === undefined ? {} : { key: `g ${key}` }),
      })),
    { title: 'Keys', key: '?', group: 'Look', run: () => setOpen('keys') },
    { title: 'Sign out', group: 'Go to', run: () => void signOut() },
    { title: 'Theme: as the system', group: 'Look', run: () => prefer({ theme: 'system' }) },
    { title: 'Theme: light', group: 'Look', run: () => prefer({ theme: 'light' }) },
    { title: 'Theme: dark', group: 'Look', run: () => prefer({ theme: 'dark' }) },
    {
      title: density === 'dense' ? 'Rows: normal' : 'Rows: dense',
      group: 'Look',
      run: () => prefer({ density: density === 'dense' ? 'normal' : 'dense' }),
    },
  ])
  const nextTheme = theme === 'dark' ? 'light' : theme === 'light' ? 'system' : 'dark'
  return (
    <div className="flex h-dvh flex-col sm:flex-row">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:bg-raised focus:p-2">
        To the page
      </a>
      <Navigation pages={pages} onMore={() => setOpen('palette')} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-4">
          <Who />
          <span className="flex-1" />
          <button type="button" className="button h-7 text-sm" onClick={() => setOpen('palette')}>
            Search or do <kbd className="font-mono text-xs text-dim max-sm:hidden">⌘K</kbd>
          </button>
          <button
            type="button"
            className="button h-7 text-sm max-sm:hidden"
            onClick={() => prefer({ theme: nextTheme })}
          >
            Theme: {theme}
          </button>
          <LiveLight />
        </header>
        <Outlet pages={pages} />
      </div>
      <Toasts />
      <Suspense>
        {open === 'palette' && <Palette onClose={() => setOpen(null)} />}
        {open === 'keys' && <KeysHelp onClose={() => setOpen(null)} />}
      </Suspense>
    </div>
  )
}

function Navigation({ pages, onMore }: { readonly pages: readonly PageEntry[]; readonly onMore: () => void }) {
  const path = usePath()
  const isHere = (page: PageEntry): boolean =>
    page.path === '/' ? path === '/' : path === page.path || path.startsWith(`${page.path}/`)
  const shown = pages.filter(({ icon }) => icon !== undefined)
  return (
    <nav
      aria-label="Pages"
      className="order-last flex shrink-0 border-line bg-sunken max-sm:border-t sm:order-first sm:w-[76px] sm:flex-col sm:gap-0.5 sm:overflow-y-auto sm:border-r sm:p-2 md:w-[200px]"
    >
      <div className="hidden h-8 items-center px-2 font-semibold tracking-tight md:flex">Reprise</div>
      {shown.map((page) => (
        <Link
          key={page.path}
          to={page.path}
          aria-current={isHere(page) ? 'page' : undefined}
          className={`flex items-center gap-2 rounded-sm px-2 text-center max-md:flex-1 max-md:flex-col max-md:justify-center max-md:gap-0.5 max-md:py-1.5 max-md:text-xs md:h-8 ${
            page.isMain === true ? '' : 'max-sm:hidden'
          } ${isHere(page) ? 'bg-accent-soft font-semibold text-accent' : 'text-ink hover:bg-ground'} sm:max-md:flex-none`}
        >
          <Icon path={page.icon ?? ''} />
          {page.title}
        </Link>
      ))}
      <button
        type="button"
        className="flex flex-1 flex-col items-center justify-center gap-0.5 py-1.5 text-xs sm:hidden"
        onClick={onMore}
      >
        <Icon path="M2 4h12M2 8h12M2 12h12" />
        More
      </button>
    </nav>
  )
}

const Icon = ({ path }: { readonly path: string }) => (
  <svg
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    className="shrink-0"
  >
    <path d={path} />
  </svg>
)

/** Whose eyes these are: a limited person sees which tenants. */
function Who() {
  const { data } = useMe()
  if (data === undefined) return null
  return (
    <p className="min-w-0 truncate text-sm text-dim" title={data.actor}>
      <bdi>{data.name}</bdi>
      {data.tenants !== null && (
        <span>
          {' · '}
          <bdi>{data.tenants.join(', ')}</bdi>
        </span>
      )}
    </p>
  )
}

const LIGHTS = {
  connecting: { shape: '○', word: 'connecting', colour: 'text-dim', says: 'The live stream is being opened.' },
  live: { shape: '●', word: 'live', colour: 'text-succeeded', says: 'Events come as they happen.' },
  busy: {
    shape: '●',
    word: 'live, busy',
    colour: 'text-succeeded',
    says: 'Very much happens. What is shown is asked for once a second.',
  },
  behind: {
    shape: '◔',
    word: 'behind',
    colour: 'text-waiting',
    says: 'More happens than comes in. What is shown is asked for once a second all the same.',
  },
  off: {
    shape: '✕',
    word: 'not live',
    colour: 'text-dead',
    says: 'There is no connection to the server, or to its live stream. It is tried again; what is shown may be old.',
  },
} as const

/** While the server answers nothing, what is shown may be old, whatever the stream believes. */
function useLight(): keyof typeof LIGHTS {
  const state = useLiveState()
  return useIsAnswering() ? state : 'off'
}

function LiveLight() {
  const { shape, word, colour, says } = LIGHTS[useLight()]
  return (
    <span role="status" className={`whitespace-nowrap text-sm ${colour}`} title={says}>
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  )
}

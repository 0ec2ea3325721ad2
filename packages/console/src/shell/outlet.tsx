// Shows the page that the address names. Each is loaded when it is opened for the first time. A page that fails says so and keeps
// the rest of the console alive; an address without a page says that.

import { Component, type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Link, PathParts, partsOf, usePath } from '../address.tsx'
import type { PageEntry } from '../pages.ts'
import { Empty, messageOf, Waiting } from '../parts/states.tsx'
import { Page } from './page.tsx'

const loaded = new Map<string, ComponentType>()

function componentOf({ path, load }: PageEntry): ComponentType {
  // What could not be loaded is asked for again when it is opened again.
  const loading = async (): ReturnType<typeof load> => {
    try {
      return await load()
    } catch (error) {
      loaded.delete(path)
      throw error
    }
  }
  const known = loaded.get(path) ?? lazy(loading)
  loaded.set(path, known)
  return known
}

export function Outlet({ pages }: { readonly pages: readonly PageEntry[] }) {
  const path = usePath()
  for (const page of pages) {
    const parts = partsOf(page.path, path)
    if (parts === null) continue
    const Shown = componentOf(page)
    return (
      <PathParts value={parts}>
        <Guard key={path}>
          <Suspense
            fallback={
              <Page title={page.title}>
                <Waiting what="the page" />
              </Page>
            }
          >
            <Shown />
          </Suspense>
        </Guard>
      </PathParts>
    )
  }
  return (
    <Page title="No such page">
      <Empty title="There is no page at this address.">
        <Link to="/" className="link">
          Go to Now
        </Link>
      </Empty>
    </Page>
  )
}

interface Guarded {
  readonly error: unknown
}

class Guard extends Component<{ readonly children: ReactNode }, Guarded> {
  override state: Guarded = { error: null }

  static getDerivedStateFromError(error: unknown): Guarded {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Page title="This page failed">
        <Empty title="This page could not be shown.">
          <p role="alert">
            <bdi>{isUnloaded(error) ? 'The server did not give out its program.' : messageOf(error)}</bdi>
          </p>
          <button type="button" className="button mt-2" onClick={() => void loadAgain()}>
            Load it again
          </button>
        </Empty>
      </Page>
    )
  }
}

const isUnloaded = (error: unknown): boolean => error instanceof TypeError && /module/i.test(error.message)

/** Not while the server is away: the browser would leave the console for a page of its own. */
async function loadAgain(): Promise<void> {
  const answer = await fetch(window.location.href, { headers: { accept: 'text/html' } }).catch(() => null)
  if (answer?.ok === true) window.location.reload()
}

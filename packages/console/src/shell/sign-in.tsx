// The way in and out. What somebody without a session sees: how to get in, by the issuer that is configured or by the link that the server printed.

import { CommandLine } from '../parts/texts.tsx'

const wayIn = document.querySelector<HTMLMetaElement>('meta[name="reprise-sign-in"]')?.content

export function SignIn({ hasEnded = false }: { readonly hasEnded?: boolean }) {
  const here = `${window.location.pathname}${window.location.search}`
  return (
    <main className="mx-auto flex max-w-md flex-col gap-3 px-4 pt-[14vh]">
      <h1 className="text-lg font-semibold">Reprise</h1>
      <p className="text-md">{hasEnded ? 'Your session has ended.' : 'You are not signed in.'}</p>
      {wayIn === 'issuer' ? (
        <p>
          <a className="button button-main" href={`/auth/sign-in?returnTo=${encodeURIComponent(here)}`}>
            Sign in
          </a>
        </p>
      ) : (
        <>
          <p>
            This server prints a link where it was started: “Sign in, once, within 15 minutes”. Open it in this browser.
            It works once; for a new one, restart the server.
          </p>
          <p className="text-dim">From a terminal you need no link:</p>
          <CommandLine command="npx reprise status" />
        </>
      )}
    </main>
  )
}

/** Ends the session of this browser, and shows how to get in. */
export async function signOut(): Promise<void> {
  await fetch('/auth/sign-out', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  window.location.reload()
}

// What helps, as a rule or a policy names it: the name of a runbook, an address, or a text.

import { address, Link } from '../address.tsx'

export function RunbookLink({ runbook, fingerprint }: { readonly runbook: string; readonly fingerprint?: string }) {
  if (/^[a-z0-9][a-z0-9-]*$/.test(runbook)) {
    return (
      <Link className="link" to={address(`/runbooks/${runbook}`, { fingerprint })}>
        <bdi>{runbook}</bdi>
      </Link>
    )
  }
  if (/^https?:\/\//.test(runbook)) {
    return (
      <a className="link break-all" href={runbook} target="_blank" rel="noreferrer">
        <bdi>{runbook}</bdi>
      </a>
    )
  }
  return <bdi>{runbook}</bdi>
}

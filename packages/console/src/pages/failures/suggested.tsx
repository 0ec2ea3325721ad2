// Runbooks that are suggested for a cause or were run for it: why, and how often each helped.

import { address, Link } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { Section } from '../../shell/page.tsx'
import type { GroupFigures } from './cases.ts'

const EVERY_MS = 30_000

export function Suggested({ group: { fingerprint, action, count } }: { readonly group: GroupFigures }) {
  const { data } = useOperation('listRunbooks', { fingerprint }, { everyMs: EVERY_MS, keepsPrevious: false })
  const mayOperate = useMay('operate')
  const mayConfigure = useMay('configure')
  const found = data?.items.filter(({ suggested, figures }) => suggested !== null || figures.runs > 0) ?? []
  if (found.length === 0) return null
  return (
    <Section title="Runbooks that may help">
      <ul className="border-t border-line">
        {found.map(({ name, title, about, right, suggested, figures }) => {
          const mayRun = count > 0 && (right === 'configure' ? mayConfigure : mayOperate)
          return (
            <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1.5">
              <div className="min-w-0 flex-1 basis-64">
                <Link className="link" to={address(`/runbooks/${encodeURIComponent(name)}`, { fingerprint, action })}>
                  <bdi>{title}</bdi>
                </Link>{' '}
                <bdi className="text-dim">{about}</bdi>
                <p className="text-sm text-dim">
                  {suggested !== null && (
                    <>
                      Suggested because <bdi>{suggested}</bdi>.{' '}
                    </>
                  )}
                  {figures.runs === 0
                    ? 'Not run for this cause yet.'
                    : `For this cause, ${figures.succeeded} of ${many(figures.runs, 'run')} succeeded.`}
                </p>
              </div>
              {mayRun && (
                <Link
                  className="button"
                  to={address(`/runbooks/${encodeURIComponent(name)}`, { sheet: 'run', fingerprint, action })}
                >
                  Run …
                </Link>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

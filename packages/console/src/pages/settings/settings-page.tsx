// Settings: who and what may come in, where events go, what is switched on, how long things are kept, and how the parts are.

import type { ReactNode } from 'react'
import { useParam } from '../../address.tsx'
import { type Scope, useMe } from '../../api/me.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { Page } from '../../shell/page.tsx'
import { Flags } from './flags.tsx'
import { Keeping } from './keeping.tsx'
import { Parts } from './parts.tsx'
import { Rights } from './rights.tsx'
import { Sessions } from './sessions.tsx'
import { Tokens } from './tokens.tsx'
import { Webhooks } from './webhooks.tsx'

interface Tab {
  readonly value: string
  readonly word: string
  readonly needs?: Scope
  /** Whether it is about every tenant. */
  readonly isOfAll?: boolean
  readonly show: () => ReactNode
}

const TABS: readonly Tab[] = [
  { value: 'parts', word: 'Versions and health', isOfAll: true, show: () => <Parts /> },
  { value: 'tokens', word: 'Tokens', needs: 'tokens', show: () => <Tokens /> },
  { value: 'sessions', word: 'Sessions', needs: 'tokens', isOfAll: true, show: () => <Sessions /> },
  { value: 'webhooks', word: 'Webhooks', needs: 'configure', show: () => <Webhooks /> },
  { value: 'flags', word: 'Flags', show: () => <Flags /> },
  { value: 'retention', word: 'Retention', isOfAll: true, show: () => <Keeping /> },
  { value: 'rights', word: 'Who may do what', show: () => <Rights /> },
]

export default function SettingsPage() {
  const { data: me } = useMe()
  const may = TABS.filter(
    ({ needs, isOfAll = false }) =>
      me !== undefined && (needs === undefined || me.scopes.includes(needs)) && (!isOfAll || me.tenants === null),
  )
  const first = may[0]?.value ?? 'rights'
  const [tab] = useParam('tab', first)
  const shown = may.find(({ value }) => value === tab)
  return (
    <Page title="Settings">
      <div className="pb-2">
        <AddressChoice label="Which settings" param="tab" missing={first} choices={may} />
      </div>
      {shown === undefined ? (
        <p className="py-4 text-dim">You may not see these settings. Ask an administrator for the scope.</p>
      ) : (
        shown.show()
      )}
    </Page>
  )
}

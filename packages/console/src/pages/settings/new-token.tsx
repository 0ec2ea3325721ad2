// Makes a token: what it is for, what it may do, for which tenants and for how long. It is shown once.

import { useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { type Scope, useMe } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { Field, FormSheet, ShownOnce } from '../../parts/form-sheet.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { ROLES } from './roles.ts'

type Made = OperationOutput<'createToken'>
type Role = 'viewer' | 'operator' | 'admin' | 'worker'

export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const me = useMe().data
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [tenants, setTenants] = useState('')
  const [expires, setExpires] = useState('90d')
  const [made, setMade] = useState<Made | null>(null)
  // Nobody can give what they don't have; an admin may give `work`.
  const has = (scope: Scope): boolean =>
    me?.scopes.includes(scope) === true || (scope === 'work' && me?.scopes.includes('configure') === true)
  const roles = (Object.keys(ROLES) as Role[]).filter((one) => ROLES[one]?.every(has))
  const names = tenants.split(/[\s,]+/).filter((one) => one !== '')
  const ends = expires.trim()
  const command = [
    `npx reprise token create ${name.trim() === '' ? '<name>' : shellWord(name.trim())} --role ${role}`,
    ...names.map((tenant) => `--tenant ${shellWord(tenant)}`),
    ...(ends === '' ? [] : [`--expires ${shellWord(ends)}`]),
  ].join(' ')
  const make = async (): Promise<void> => {
    const given = { ...(names.length === 0 ? {} : { tenants: names }), ...(ends === '' ? {} : { expiresIn: ends }) }
    setMade(await call('createToken', { name: name.trim(), role, ...given }))
    await refresh()
  }
  if (made !== null) {
    const says = 'Copy it now: it is shown this once, and kept nowhere.'
    return <ShownOnce title={`The token ${made.name}`} says={says} secret={made.token} onClose={onClose} />
  }
  return (
    <FormSheet
      title="Make a token"
      verb="Make it"
      command={command}
      isReady={name.trim() !== ''}
      submit={make}
      onClose={onClose}
    >
      <p className="text-md">Anybody who has it may do this until it expires or is revoked, from anywhere.</p>
      <Field label="What it is for" value={name} onChange={setName} example="night-shift" />
      <label className="flex flex-col gap-1">
        <span className="label">Role</span>
        <select className="field" value={role} onChange={(event) => setRole(event.target.value as Role)}>
          {roles.map((one) => (
            <option key={one} value={one}>
              {one}: {ROLES[one]?.join(', ')}
            </option>
          ))}
        </select>
      </label>
      <Field
        label={me?.tenants === null ? 'Only for these tenants; all if empty' : 'Only for these tenants; yours if empty'}
        value={tenants}
        onChange={setTenants}
        example="acme, globex"
      />
      <Field label="Expires after; never if empty" value={expires} onChange={setExpires} example="90d" />
    </FormSheet>
  )
}

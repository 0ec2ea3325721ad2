// Makes a token: what it is for, what it may do, for whom and for how long. It is shown once.

import { useId, useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { type Scope, useMe } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { Sheet } from '../../parts/sheet.tsx'
import { messageOf } from '../../parts/states.tsx'
import { CommandLine, Copy, shellWord } from '../../parts/texts.tsx'
import { ROLES } from './roles.ts'

type Made = OperationOutput<'createToken'>
type Role = 'viewer' | 'operator' | 'admin' | 'worker'

export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const me = useMe().data
  const id = useId()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [tenants, setTenants] = useState('')
  const [expires, setExpires] = useState('90d')
  const [made, setMade] = useState<Made | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  // Nobody can give what they don't have; an admin may give `work`.
  const has = (scope: Scope): boolean =>
    me?.scopes.includes(scope) === true || (scope === 'work' && me?.scopes.includes('configure') === true)
  const roles = (Object.keys(ROLES) as Role[]).filter((one) => ROLES[one]?.every(has))
  const names = tenants.split(/[\s,]+/).filter((one) => one !== '')
  const ends = expires.trim()
  const command = [
    `reprise token create ${name.trim() === '' ? '<name>' : shellWord(name.trim())} --role ${role}`,
    ...names.map((tenant) => `--tenant ${shellWord(tenant)}`),
    ...(ends === '' ? [] : [`--expires ${shellWord(ends)}`]),
  ].join(' ')
  const make = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      const given = { ...(names.length === 0 ? {} : { tenants: names }), ...(ends === '' ? {} : { expiresIn: ends }) }
      setMade(await call('createToken', { name: name.trim(), role, ...given }))
      await refresh()
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  if (made !== null) {
    return (
      <Sheet kind="middle" title={`The token ${made.name}`} onClose={onClose}>
        <p className="mb-2 text-md">Copy it now: it is shown this once, and kept nowhere.</p>
        <div className="flex items-start gap-2 rounded-sm bg-sunken px-2 py-1.5">
          <code className="min-w-0 flex-1 font-mono text-sm break-all">{made.token}</code>
          <Copy text={made.token} />
        </div>
      </Sheet>
    )
  }
  return (
    <Sheet
      kind="middle"
      title="Make a token"
      onClose={onClose}
      actions={
        <>
          <button type="submit" form={id} className="button button-main" disabled={isBusy || name.trim() === ''}>
            {isBusy ? 'Working …' : 'Make it'}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
        </>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <p className="text-md">Whoever has it may do this until it expires or is revoked, from anywhere.</p>
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
          label={
            me?.tenants === null ? 'Only for these tenants; all if empty' : 'Only for these tenants; yours if empty'
          }
          value={tenants}
          onChange={setTenants}
          example="acme, globex"
        />
        <Field label="Expires after; never if empty" value={expires} onChange={setExpires} example="90d" />
        <div className="flex flex-col gap-1">
          <span className="label">The same as a command</span>
          <CommandLine command={command} />
        </div>
        {error !== null && (
          <p role="alert" className="rounded-sm bg-dead-soft px-2 py-1.5">
            <span className="text-dead">✕ Refused.</span> <bdi>{messageOf(error)}</bdi>
          </p>
        )}
      </form>
    </Sheet>
  )
}

export function Field({
  label,
  value,
  onChange,
  example,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly example: string
}) {
  return (
    <label className="flex flex-col gap-1">
      <span className="label">{label}</span>
      <input
        className="field"
        value={value}
        maxLength={2_000}
        placeholder={example}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}

// Makes a channel: how it is spoken to, where, and which alerts it is told of. Secrets are not shown again, and are no part of the
// command: there they come from a file.

import { useState } from 'react'
import { call, type OperationInput } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import { Field, FormSheet } from '../../parts/form-sheet.tsx'
import { Pick } from '../../parts/pick.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { toast } from '../../shell/toasts.tsx'
import { SEVERITIES } from './alert-words.ts'

type ChannelInput = OperationInput<'createChannel'>
type Kind = ChannelInput['kind']

interface Setting {
  readonly name: string
  readonly label: string
  readonly example: string
  readonly isNeeded?: true
  readonly isSecret?: true
  readonly read?: (text: string) => unknown
}

const listIn = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '')

const SETTINGS: Readonly<Record<Kind, readonly Setting[]>> = {
  pagerduty: [
    { name: 'routingKey', label: 'Integration key (Events API v2)', example: 'R0…', isNeeded: true, isSecret: true },
  ],
  slack: [
    {
      name: 'url',
      label: 'Address of an incoming webhook',
      example: 'https://hooks.slack.com/…',
      isNeeded: true,
      isSecret: true,
    },
  ],
  email: [
    { name: 'host', label: 'SMTP server', example: 'smtp.example.com', isNeeded: true },
    { name: 'port', label: 'Port', example: '587', read: Number },
    { name: 'security', label: 'starttls, tls or none', example: 'starttls' },
    { name: 'user', label: 'User', example: 'reprise' },
    { name: 'password', label: 'Password', example: '', isSecret: true },
    { name: 'from', label: 'From', example: 'reprise@example.com', isNeeded: true },
    { name: 'to', label: 'To', example: 'ops@example.com', isNeeded: true, read: listIn },
  ],
  webhook: [{ name: 'url', label: 'Address', example: 'https://example.com/alerts', isNeeded: true, isSecret: true }],
  retry_alert: [{ name: 'url', label: 'Address of the service', example: 'https://example.com', isNeeded: true }],
  tenants: [{ name: 'perHour', label: 'Events for one tenant in an hour, at the most', example: '2', read: Number }],
  work_orders: [
    { name: 'url', label: 'Address of the system', example: 'https://tickets.example.com', isNeeded: true },
  ],
}

const KINDS: readonly (readonly [Kind, string])[] = [
  ['pagerduty', 'PagerDuty'],
  ['slack', 'Slack'],
  ['email', 'E-mail'],
  ['webhook', 'Webhook'],
  ['retry_alert', 'POST /notifications/retry-alert'],
  ['tenants', 'Tenants that are affected'],
  ['work_orders', 'A system with a ticket for each work order'],
]

export function ChannelForm({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('pagerduty')
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const [severity, setSeverity] = useState('normal')
  const [after, setAfter] = useState('')
  const [remind, setRemind] = useState('')
  const called = name.trim()
  const settings = SETTINGS[kind]
  const textOf = (setting: Setting): string => (texts[setting.name] ?? '').trim()
  const given = settings.filter((one) => textOf(one) !== '')
  const readOf = (setting: Setting): unknown => (setting.read ?? String)(textOf(setting))
  const command = [
    `npx reprise channels create ${called === '' ? '<name>' : shellWord(called)} --kind ${kind}`,
    ...given.map((one) => {
      const value = readOf(one)
      const text = one.isSecret ? `@${one.name}.txt` : typeof value === 'string' ? value : JSON.stringify(value)
      return `--set ${shellWord(`${one.name}=${text}`)}`
    }),
    ...(severity === 'normal' ? [] : [`--min-severity ${severity}`]),
    ...(after.trim() === '' ? [] : [`--after ${shellWord(after.trim())}`]),
    ...(remind.trim() === '' ? [] : [`--remind ${shellWord(remind.trim())}`]),
  ].join(' ')
  const submit = async (): Promise<void> => {
    const made = await call('createChannel', {
      name: called,
      kind,
      settings: Object.fromEntries(given.map((one) => [one.name, readOf(one)])),
      minSeverity: severity as ChannelInput['minSeverity'],
      ...(after.trim() === '' ? {} : { after: after.trim() }),
      ...(remind.trim() === '' ? {} : { remind: remind.trim() }),
    })
    await refresh()
    toast(`Alerts are told to ${made.name} from now on.`, { command })
    onClose()
  }
  return (
    <FormSheet
      title="Make a channel"
      verb="Make it"
      command={command}
      isReady={called !== '' && settings.every((one) => one.isNeeded !== true || textOf(one) !== '')}
      submit={submit}
      onClose={onClose}
    >
      <Field label="Name" value={name} onChange={setName} example="pager" />
      <Pick label="Kind" value={kind} onChange={(one) => setKind(one as Kind)} options={KINDS} />
      {settings.map((setting) => (
        <Field
          key={`${kind} ${setting.name}`}
          label={`${setting.label}${setting.isSecret === true ? '; not shown again' : ''}`}
          value={texts[setting.name] ?? ''}
          onChange={(text) => setTexts({ ...texts, [setting.name]: text })}
          example={setting.example}
        />
      ))}
      <Pick
        label="Is told of alerts from this severity on"
        value={severity}
        onChange={setSeverity}
        options={SEVERITIES.toReversed().map((one) => [one, one])}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Only if unacknowledged for" value={after} onChange={setAfter} example="at once" />
        <Field label="Told again every" value={remind} onChange={setRemind} example="never" />
      </div>
    </FormSheet>
  )
}

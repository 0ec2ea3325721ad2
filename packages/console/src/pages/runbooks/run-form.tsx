// Runs a runbook: a form made from its inputs. What the address has under the name of an input is filled in, so that a cause leads
// here with its own.

import { useState } from 'react'
import { navigate, useParams } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import { Field, FormSheet } from '../../parts/form-sheet.tsx'
import { Pick } from '../../parts/pick.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { toast } from '../../shell/toasts.tsx'
import { type Runbook, runAddress } from './runbook-words.ts'

type Input = Runbook['inputs'][string]

export function RunForm({ runbook, onClose }: { readonly runbook: Runbook; readonly onClose: () => void }) {
  const { name, title, inputs, needsApproval } = runbook
  const params = useParams()
  const known = Object.entries(inputs)
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(known.map(([input, { default: missing }]) => [input, params[input] ?? String(missing ?? '')])),
  )
  const [isDry, setDry] = useState(true)
  const [reason, setReason] = useState('')
  const cause = 'fingerprint' in inputs ? undefined : params['fingerprint']
  const why = reason.trim()
  const textOf = (input: string): string => (texts[input] ?? '').trim()
  const given = known.filter(([input]) => textOf(input) !== '')
  const command = [
    `npx reprise runbook run ${shellWord(name)}`,
    ...given.map(([input]) => `--input ${shellWord(`${input}=${textOf(input)}`)}`),
    ...(cause === undefined ? [] : [`--fingerprint ${shellWord(cause)}`]),
    ...(isDry ? ['--dry-run'] : []),
    ...(why === '' ? [] : [`--reason ${shellWord(why)}`]),
    '--wait',
  ].join(' ')
  const submit = async (): Promise<void> => {
    const { id } = await call('startRunbook', {
      name,
      inputs: Object.fromEntries(given.map(([input]) => [input, textOf(input)])),
      fingerprint: cause,
      dryRun: isDry,
      reason: why,
    })
    await refresh()
    toast(isDry ? 'The dry run began.' : 'The run began.', { command })
    navigate(runAddress(id))
  }
  return (
    <FormSheet
      title={title}
      verb={isDry ? 'Look what it would do' : 'Run it'}
      command={command}
      isReady={
        why !== '' && known.every(([input, { default: missing }]) => missing !== undefined || textOf(input) !== '')
      }
      submit={submit}
      onClose={onClose}
    >
      {known.map(([input, schema]) => (
        <InputField
          key={input}
          name={input}
          schema={schema}
          value={texts[input] ?? ''}
          onChange={(text) => setTexts({ ...texts, [input]: text })}
        />
      ))}
      <label className="flex items-start gap-2">
        <input type="checkbox" className="mt-1" checked={isDry} onChange={(event) => setDry(event.target.checked)} />
        <span>Dry run: look, check the inputs, and say what it would do. Nothing is changed.</span>
      </label>
      {!isDry && needsApproval && (
        <p className="text-md">Before its first step, somebody else than you has to agree.</p>
      )}
      <Field label="Reason, for the journal" value={reason} onChange={setReason} example="the bank is back" />
    </FormSheet>
  )
}

interface InputFieldProps {
  readonly name: string
  readonly schema: Input
  readonly value: string
  readonly onChange: (value: string) => void
}

function InputField({ name, schema, value, onChange }: InputFieldProps) {
  const { type, about, choices, min, max } = schema
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])]
  const label = `${name}: ${about}${bounds.length === 0 ? '' : ` (${bounds.join(', ')})`}`
  if (type === 'flag') {
    const options = [
      ['true', 'yes'],
      ['false', 'no'],
    ] as const
    return (
      <Pick label={label} value={value} onChange={onChange} options={value === '' ? [['', ''], ...options] : options} />
    )
  }
  if (choices !== undefined) {
    const options = choices.map((one) => [one, one] as const)
    return (
      <Pick label={label} value={value} onChange={onChange} options={value === '' ? [['', ''], ...options] : options} />
    )
  }
  if (type === 'json') {
    return (
      <label className="flex flex-col gap-1">
        <span className="label">{label}</span>
        <textarea
          className="field h-24 py-1 font-mono text-sm"
          value={value}
          maxLength={10_000}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
        {!isJson(value) && (
          <span role="status" className="text-sm text-dead">
            ✕ This is no JSON yet.
          </span>
        )}
      </label>
    )
  }
  return <Field label={label} value={value} onChange={onChange} example={type === 'number' ? '0' : ''} />
}

function isJson(text: string): boolean {
  if (text.trim() === '') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// Makes a rule of alerts, or changes one. What is left empty is as the figure has it, or stays as it is.

import { ALERT_GROUPINGS, ALERT_METRIC_NAMES, ALERT_METRICS, type AlertMetric, formatDuration } from '@reprise/core'
import { useState } from 'react'
import { call, type OperationInput } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import { Field, FormSheet } from '../../parts/form-sheet.tsx'
import { Pick } from '../../parts/pick.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { toast } from '../../shell/toasts.tsx'
import { type Rule, SEVERITIES } from './alert-words.ts'

type RuleInput = OperationInput<'putAlertRule'>

/** A rule as it is set. */
export function inputOf(known: Rule): RuleInput {
  const { name, pool, action, tenant, by, windowMs, above, criticalAbove, forMs, severity, runbook, enabled } = known
  const metric = known.metric as AlertMetric
  const figure = { metric, window: windowMs, above, criticalAbove, for: forMs, severity }
  return { name, pool, action, tenant, by, ...figure, unless: [...known.unless], runbook, enabled }
}

/** As the command calls them. */
const OPTIONS = ['above', 'critical-above', 'window', 'for', 'severity', 'by', 'action', 'runbook'] as const
type Option = (typeof OPTIONS)[number]
type Texts = Readonly<Partial<Record<Option, string>>>

export function RuleForm({ rule, onClose }: { readonly rule?: Rule; readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [chosen, setMetric] = useState<AlertMetric>('failure_rate')
  const [texts, setTexts] = useState<Texts>({})
  const metric = (rule?.metric as AlertMetric | undefined) ?? chosen
  const facts = rule ?? ALERT_METRICS[metric]
  const { isScoped } = ALERT_METRICS[metric]
  const called = rule?.name ?? name.trim()
  const given = OPTIONS.flatMap((option) => {
    const text = (texts[option] ?? '').trim()
    return text === '' ? [] : [[option, text] as const]
  })
  const command = [
    `npx reprise alerts rule ${called === '' ? '<name>' : shellWord(called)}`,
    ...(rule === undefined ? [`--metric ${metric}`] : []),
    ...given.map(([option, text]) => `--${option} ${shellWord(text)}`),
  ].join(' ')
  const field = (option: Option) => ({
    value: texts[option] ?? '',
    onChange: (text: string) => setTexts({ ...texts, [option]: text }),
  })
  const isNumber = (option: Option): boolean => Number.isFinite(Number(texts[option] ?? ''))
  const submit = async (): Promise<void> => {
    const set = given.map(([option, text]) =>
      option === 'above'
        ? [option, Number(text)]
        : option === 'critical-above'
          ? ['criticalAbove', Number(text)]
          : [option, text],
    )
    // The server checks what was typed, and says what is wrong.
    const changed = Object.fromEntries(set) as Partial<RuleInput>
    await call('putAlertRule', { ...(rule === undefined ? {} : inputOf(rule)), ...changed, name: called, metric })
    await refresh()
    toast(`The rule ${called} is set.`, { command })
    onClose()
  }
  const stays = rule === undefined ? 'as the figure has it' : 'as it is'
  return (
    <FormSheet
      title={rule === undefined ? 'Make a rule' : `Change ${rule.name}`}
      verb="Set it"
      command={command}
      isReady={
        called !== '' && (rule === undefined || given.length > 0) && isNumber('above') && isNumber('critical-above')
      }
      submit={submit}
      onClose={onClose}
    >
      {rule === undefined && (
        <>
          <Field
            label="Name; that of a ready-made rule replaces it"
            value={name}
            onChange={setName}
            example="nightly"
          />
          <Pick
            label="Figure"
            value={metric}
            onChange={(one) => {
              setMetric(one as AlertMetric)
              setTexts({})
            }}
            options={ALERT_METRIC_NAMES.map((one) => [one, one])}
          />
        </>
      )}
      <p className="text-md">
        <code className="font-mono text-sm">{metric}</code>: {ALERT_METRICS[metric].about}. What you leave empty is{' '}
        {stays}.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Fires above" {...field('above')} example={String(facts.above)} />
        <Field label="Critical above" {...field('critical-above')} example={String(facts.criticalAbove ?? 'never')} />
        {facts.windowMs > 0 && <Field label="Within" {...field('window')} example={formatDuration(facts.windowMs)} />}
        <Field label="For at least" {...field('for')} example={formatDuration(facts.forMs)} />
        <Pick
          label="Severity"
          {...field('severity')}
          options={[['', `${stays} (${facts.severity})`], ...SEVERITIES.map((one) => [one, one] as const)]}
        />
        {isScoped && (
          <>
            <Pick
              label="One alert for each"
              {...field('by')}
              options={[
                ['', rule?.by == null ? 'one for all' : `${stays} (${rule.by})`],
                ...ALERT_GROUPINGS.map((one) => [one, one] as const),
              ]}
            />
            <Field label="Only of this action" {...field('action')} example={rule?.action ?? 'report.nightly'} />
          </>
        )}
        <Field label="Runbook" {...field('runbook')} example={rule?.runbook ?? 'replay-after-outage'} />
      </div>
    </FormSheet>
  )
}

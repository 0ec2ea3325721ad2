// Rules: which figure is watched, and above what an alert fires; to set, switch and remove them.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { span } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Facts } from '../../parts/facts.tsx'
import { RunbookLink } from '../../parts/runbook-link.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { CommandLine, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import type { Rule } from './alert-words.ts'
import { inputOf, RuleForm } from './rule-form.tsx'

const SOURCES = { ready: 'ready-made', configuration: 'the configuration', api: 'own' } as const

export function Rules() {
  const asked = useOperation('listAlertRules', {}, { everyMs: 30_000 })
  const mayConfigure = useMay('configure')
  const [open] = useParam('rule')
  const [sheet] = useParam('sheet')
  const chosen = asked.data?.items.find(({ name }) => name === open)
  const make = (): void => setParams({ sheet: 'rule' })
  useCommands(mayConfigure ? [{ title: 'Make a rule of alerts', group: 'On this page', run: make }] : [])
  return (
    <>
      {mayConfigure && (
        <button type="button" className="button mb-3" onClick={make}>
          Make a rule …
        </button>
      )}
      <Answered of={asked} what="the rules">
        {({ items }) => (
          <DataTable
            label="Rules"
            rows={items}
            keyOf={({ name }) => name}
            columns={COLUMNS}
            onOpen={({ name }) => setParams({ rule: name })}
          />
        )}
      </Answered>
      <div className="mt-4 max-w-xl">
        <p className="label mb-1">The same rules for Prometheus</p>
        <CommandLine command="npx reprise alerts export > reprise-rules.yml" />
      </div>
      {chosen !== undefined && <RuleSheet rule={chosen} onClose={() => setParams({ rule: null })} />}
      {mayConfigure && sheet === 'rule' && <RuleForm onClose={() => setParams({ sheet: null })} />}
    </>
  )
}

const scopeOf = ({ pool, action, tenant }: Rule): string =>
  [pool, action, tenant].filter((one) => one !== null).join(', ') || 'everything'

function whenOf({ name, metric, above, criticalAbove, windowMs, forMs }: Rule): string {
  const within = windowMs === 0 ? '' : ` in ${span(windowMs)}`
  const lasting = forMs === 0 ? '' : ` for ${span(forMs)}`
  const figure = metric === name ? '' : `${metric} `
  return `${figure}above ${above}${within}${lasting}${criticalAbove === null ? '' : `; critical above ${criticalAbove}`}`
}

const COLUMNS: readonly Column<Rule>[] = [
  {
    id: 'on',
    title: 'Is',
    width: '52px',
    cell: ({ enabled }) => <StateMark state={enabled ? 'succeeded' : 'held'} word={enabled ? 'on' : 'off'} />,
  },
  { id: 'name', title: 'Rule', width: 'minmax(0, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  {
    id: 'when',
    title: 'Fires when',
    isMain: true,
    width: 'minmax(0, 2fr)',
    cell: (rule) => <span title={whenOf(rule)}>{whenOf(rule)}</span>,
  },
  { id: 'of', title: 'Of', width: 'minmax(0, 1fr)', from: 760, cell: (rule) => <bdi>{scopeOf(rule)}</bdi> },
  { id: 'by', title: 'One for each', width: '96px', from: 900, cell: ({ by }) => by ?? '–' },
  { id: 'severity', title: 'Severity', width: '76px', from: 620, cell: ({ severity }) => severity },
  {
    id: 'source',
    title: 'From',
    width: '128px',
    from: 900,
    cell: ({ source, updatedBy }) => (
      <bdi className="text-dim" title={updatedBy}>
        {SOURCES[source]}
      </bdi>
    ),
  },
]

type Act = 'switch' | 'remove' | 'change'

function RuleSheet({ rule, onClose }: { readonly rule: Rule; readonly onClose: () => void }) {
  const mayConfigure = useMay('configure')
  const [act, setAct] = useState<Act | null>(null)
  const { name, metric, enabled, severity, by, runbook, unless, source, updatedBy } = rule
  return (
    <Sheet
      title={<bdi>{name}</bdi>}
      onClose={onClose}
      actions={
        mayConfigure ? (
          <>
            <button type="button" className="button" onClick={() => setAct('change')}>
              Change …
            </button>
            <button type="button" className="button" onClick={() => setAct('switch')}>
              Switch {enabled ? 'off' : 'on'} …
            </button>
            {source !== 'ready' && (
              <button type="button" className="button button-danger" onClick={() => setAct('remove')}>
                Remove …
              </button>
            )}
          </>
        ) : undefined
      }
    >
      <p className="mb-3 text-md">
        <StateMark state={enabled ? 'succeeded' : 'held'} word={enabled ? 'on' : 'off'} /> · fires when {whenOf(rule)}
      </p>
      <Facts
        of={[
          ['figure', <code key="metric">{metric}</code>],
          ['of', <bdi key="of">{scopeOf(rule)}</bdi>],
          ['one for each', by],
          ['severity', severity],
          ['not told after', unless.length === 0 ? null : <bdi key="unless">{unless.join(', ')}</bdi>],
          ['runbook', runbook === null ? null : <RunbookLink key="runbook" runbook={runbook} />],
          ['from', SOURCES[source]],
          ['set by', source === 'ready' ? null : <bdi key="by">{updatedBy}</bdi>],
        ]}
      />
      {act === 'change' && <RuleForm rule={rule} onClose={() => setAct(null)} />}
      {(act === 'switch' || act === 'remove') && (
        <Confirm change={changeOf(act, rule, onClose)} onClose={() => setAct(null)} />
      )}
    </Sheet>
  )
}

function changeOf(act: 'switch' | 'remove', rule: Rule, onGone: () => void): Change {
  const { name, enabled } = rule
  if (act === 'remove') {
    return {
      title: 'Remove this rule',
      verb: 'Remove it',
      isDangerous: true,
      hasReason: false,
      command: `npx reprise alerts unrule ${shellWord(name)}`,
      touches: <p>Its alerts are over. If it replaced a ready-made rule, that one counts again.</p>,
      run: async () => {
        await call('removeAlertRule', { name })
        onGone()
        await refresh()
        return { says: `The rule ${name} is gone.`, undo: () => call('putAlertRule', inputOf(rule)) }
      },
    }
  }
  const set = async (isOn: boolean): Promise<void> => {
    await call('putAlertRule', { ...inputOf(rule), enabled: isOn })
    await refresh()
  }
  return {
    title: `Switch the rule ${enabled ? 'off' : 'on'}`,
    verb: `Switch ${enabled ? 'off' : 'on'}`,
    isDangerous: enabled,
    hasReason: false,
    command: `npx reprise alerts rule ${shellWord(name)}${enabled ? ' --off' : ''}`,
    touches: (
      <p>
        {enabled
          ? 'Nobody watches this figure until the rule is on again. Its alerts are over.'
          : 'An alert fires as soon as the figure is above.'}
      </p>
    ),
    run: async () => {
      await set(!enabled)
      return { says: `The rule ${name} is ${enabled ? 'off' : 'on'}.`, undo: () => set(enabled) }
    },
  }
}

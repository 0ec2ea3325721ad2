// Alerts: what the store wants people to know, who is at it, what is kept quiet, by which rules, and who is told.

import { setParams, useParam } from '../../address.tsx'
import { useList } from '../../api/operations.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Page } from '../../shell/page.tsx'
import { AlertSheet } from './alert-sheet.tsx'
import { ALERT_LOOKS, type Alert, aboutOf, byNeed, pastSentence, sentenceOf } from './alert-words.ts'
import { Channels } from './channels.tsx'
import { Rules } from './rules.tsx'
import { Silences } from './silences.tsx'
import { ChannelsSentence, RulesSentence, SilencesSentence } from './tab-sentences.tsx'

const TABS = [
  { value: '', word: 'Now' },
  { value: 'past', word: 'Resolved' },
  { value: 'silences', word: 'Silences' },
  { value: 'rules', word: 'Rules' },
  { value: 'channels', word: 'Channels' },
] as const

export default function AlertsPage() {
  const [tab] = useParam('tab')
  const [open] = useParam('alert')
  const { items, error, more, hasMore } = useList('listAlerts', {
    limit: 200,
    ...(tab === 'past' ? { status: 'resolved' as const } : {}),
  })
  const rows = items?.toSorted(byNeed)
  return (
    <Page
      title="Alerts"
      isFilled={tab === '' || tab === 'past'}
      sentence={
        tab === 'silences' ? (
          <SilencesSentence />
        ) : tab === 'rules' ? (
          <RulesSentence />
        ) : tab === 'channels' ? (
          <ChannelsSentence />
        ) : rows === undefined ? undefined : tab === 'past' ? (
          pastSentence(rows, hasMore)
        ) : (
          sentenceOf(rows)
        )
      }
    >
      <div className="pb-2">
        <AddressChoice label="About alerts" param="tab" choices={TABS} />
      </div>
      {tab === 'silences' ? (
        <Silences />
      ) : tab === 'rules' ? (
        <Rules />
      ) : tab === 'channels' ? (
        <Channels />
      ) : (
        <Answered of={{ data: rows, error }} what="alerts">
          {(alerts) =>
            alerts.length === 0 ? (
              <Empty
                title={tab === 'past' ? 'No alert has been resolved yet.' : 'Nothing is wrong that a rule watches.'}
                command="npx reprise channels create pager --kind pagerduty --set routingKey=@pagerduty.key"
              >
                An alert fires when a figure is above what its rule allows, and resolves by itself when that is over.
                There are ready-made rules. Channels say who is told:
              </Empty>
            ) : (
              <DataTable
                label="Alerts"
                rows={alerts}
                keyOf={({ id }) => id}
                columns={COLUMNS}
                isFilled={true}
                about={tab}
                onEnd={more}
                onOpen={({ id }) => setParams({ alert: id })}
              />
            )
          }
        </Answered>
      )}
      {open !== '' && <AlertSheet id={open} onClose={() => setParams({ alert: null })} />}
    </Page>
  )
}

const COLUMNS: readonly Column<Alert>[] = [
  {
    id: 'state',
    title: 'State',
    width: '120px',
    cell: ({ state }) => <StateMark state={ALERT_LOOKS[state.status][0]} word={ALERT_LOOKS[state.status][1]} />,
  },
  {
    id: 'says',
    title: 'What',
    isMain: true,
    width: 'minmax(0, 3fr)',
    cell: ({ says }) => <bdi title={says}>{says}</bdi>,
  },
  {
    id: 'about',
    title: 'About',
    width: 'minmax(0, 1fr)',
    from: 700,
    cell: (alert) => (
      <bdi className="text-dim" title={aboutOf(alert)}>
        {aboutOf(alert)}
      </bdi>
    ),
  },
  {
    id: 'severity',
    title: 'Severity',
    width: '72px',
    from: 560,
    cell: ({ severity }) => (
      <span className={severity === 'critical' || severity === 'high' ? 'text-dead' : 'text-dim'}>{severity}</span>
    ),
  },
  {
    id: 'told',
    title: 'Silenced',
    width: '84px',
    from: 760,
    cell: ({ silenced }) => (silenced ? <span className="text-held">‖ silenced</span> : ''),
  },
  {
    id: 'since',
    title: 'Since',
    isAbove: true,
    width: '76px',
    from: 480,
    isNumber: true,
    cell: ({ state }) => <Ago at={state.since} />,
  },
]

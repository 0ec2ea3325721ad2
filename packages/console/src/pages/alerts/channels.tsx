// Channels: who is told of alerts, from which severity on, and whether it arrives.

import { setParams, useParam } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { useCommands } from '../../shell/commands.ts'
import { ChannelForm } from './channel-form.tsx'
import { ChannelSheet } from './channel-sheet.tsx'
import { type Channel, ChannelMark, routeOf } from './channel-words.tsx'

export function Channels() {
  const asked = useOperation('listChannels', {})
  const mayConfigure = useMay('configure')
  const [open] = useParam('channel')
  const [sheet] = useParam('sheet')
  const chosen = asked.data?.items.find(({ name }) => name === open)
  const make = (): void => setParams({ sheet: 'channel' })
  useCommands(mayConfigure ? [{ title: 'Make a channel', group: 'On this page', run: make }] : [])
  return (
    <>
      {mayConfigure && (
        <button type="button" className="button mb-3" onClick={make}>
          Make a channel …
        </button>
      )}
      <Answered of={asked} what="the channels">
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title="Nobody is told of alerts."
              command="npx reprise channels create pager --kind pagerduty --set routingKey=@pagerduty.key"
            >
              A channel tells PagerDuty, Slack, an e-mail address, a webhook, or the tenants that are affected. Its
              secrets are not shown again.
            </Empty>
          ) : (
            <DataTable
              label="Channels"
              rows={items}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              onOpen={({ name }) => setParams({ channel: name })}
            />
          )
        }
      </Answered>
      {chosen !== undefined && (
        <ChannelSheet channel={chosen} onClose={() => setParams({ channel: null, delivery: null })} />
      )}
      {mayConfigure && sheet === 'channel' && <ChannelForm onClose={() => setParams({ sheet: null })} />}
    </>
  )
}

const COLUMNS: readonly Column<Channel>[] = [
  { id: 'on', title: 'Is', width: '52px', cell: (channel) => <ChannelMark channel={channel} /> },
  { id: 'name', title: 'Channel', width: 'minmax(0, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  { id: 'kind', title: 'Kind', width: '96px', from: 480, cell: ({ kind }) => kind.replace('_', ' ') },
  {
    id: 'to',
    title: 'To',
    width: 'minmax(0, 1.5fr)',
    cell: ({ destination }) => <bdi title={destination}>{destination}</bdi>,
  },
  {
    id: 'route',
    title: 'Is told',
    width: 'minmax(0, 3fr)',
    from: 700,
    cell: (channel) => <bdi title={routeOf(channel)}>{channel.disabledBecause ?? routeOf(channel)}</bdi>,
  },
]

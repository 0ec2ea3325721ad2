// Silences: which alerts nobody is told of, until when, by whom and why; to make one, and to end one.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { Field, FormSheet } from '../../parts/form-sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { toast } from '../../shell/toasts.tsx'
import { matchersOf } from './alert-words.ts'

type Silence = OperationOutput<'listSilences'>['items'][number]

export function Silences() {
  const asked = useOperation('listSilences', {})
  const mayOperate = useMay('operate')
  const [ending, setEnding] = useState<Silence | null>(null)
  const [sheet] = useParam('sheet')
  const make = (): void => setParams({ sheet: 'silence' })
  useCommands(mayOperate ? [{ title: 'Silence alerts', group: 'On this page', run: make }] : [])
  return (
    <>
      {mayOperate && (
        <button type="button" className="button mb-3" onClick={make}>
          Silence alerts …
        </button>
      )}
      <Answered of={asked} what="the silences">
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title="Nothing is silenced."
              command="npx reprise alerts silence rule=retry_rate --for 2h --reason 'the bank is down, we know'"
            >
              Nobody is told of alerts that match a silence, for a time. What is still there at the end is told then.
              Silence one alert from its sheet, or several by rule, severity or what they are about:
            </Empty>
          ) : (
            <ul aria-label="Silences" className="max-w-4xl border-t border-line">
              {items.toReversed().map((silence) => (
                <li key={silence.id} className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line py-2">
                  <span className="w-20 shrink-0">
                    <StateMark state={silence.active ? 'held' : 'succeeded'} word={silence.active ? 'now' : 'over'} />
                  </span>
                  <div className="min-w-0 flex-1 basis-64">
                    <p className="font-mono text-sm break-words">
                      <bdi>{matchersOf(silence.matches)}</bdi>
                    </p>
                    <p>
                      <bdi className="break-words">{silence.reason}</bdi>{' '}
                      <span className="text-sm text-dim">
                        <bdi>{silence.by}</bdi>, {silence.active ? 'ends' : 'ended'} <Ago at={silence.until} />
                      </span>
                    </p>
                  </div>
                  {mayOperate && silence.active && (
                    <button type="button" className="button h-7 text-sm" onClick={() => setEnding(silence)}>
                      End it …
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      {ending !== null && <Confirm change={endOf(ending)} onClose={() => setEnding(null)} />}
      {mayOperate && sheet === 'silence' && <NewSilence onClose={() => setParams({ sheet: null })} />}
    </>
  )
}

/** rule=retry_rate, action=mail.* as the command takes it; null where it is none. */
function matchersIn(text: string): Readonly<Record<string, string>> | null {
  const pairs = text.split(',').map((pair) => /^\s*(\w+)=(.+?)\s*$/.exec(pair))
  if (pairs.includes(null)) return null
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
}

function NewSilence({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [time, setTime] = useState('2h')
  const [reason, setReason] = useState('')
  const matches = matchersIn(text)
  const [lasts, why] = [time.trim(), reason.trim()]
  const command = `npx reprise alerts silence ${matches === null ? '<matchers>' : shellWord(matchersOf(matches))} --for ${shellWord(lasts || '2h')}${why === '' ? '' : ` --reason ${shellWord(why)}`}`
  const submit = async (): Promise<void> => {
    const { id } = await call('createSilence', { matches: matches ?? {}, for: lasts, reason: why })
    await refresh()
    toast(`Alerts that match are silenced for ${lasts}.`, { command, undo: () => call('endSilence', { id }) })
    onClose()
  }
  return (
    <FormSheet
      title="Silence alerts"
      verb="Silence"
      command={command}
      isReady={matches !== null && lasts !== '' && why !== ''}
      submit={submit}
      onClose={onClose}
    >
      <p className="text-md">
        Nobody is told of alerts that match all of these, until the time is over. They still show here.
      </p>
      <Field
        label="Which: by rule, severity, or a name that they are about; * for any text"
        value={text}
        onChange={setText}
        example="rule=retry_rate, action=mail.*"
      />
      {text.trim() !== '' && matches === null && (
        <p role="status" className="text-dead">
          ✕ Write names and values, such as rule=retry_rate, with commas between them.
        </p>
      )}
      <Field label="How long, at most 30d" value={time} onChange={setTime} example="2h" />
      <Field
        label="Reason, for those who look"
        value={reason}
        onChange={setReason}
        example="the bank is down, we know"
      />
    </FormSheet>
  )
}

function endOf(silence: Silence): Change {
  return {
    title: 'End this silence',
    verb: 'End it',
    hasReason: false,
    command: `npx reprise alerts unsilence ${shellWord(silence.id)}`,
    touches: (
      <p>
        Alerts that match <bdi className="font-mono text-sm">{matchersOf(silence.matches)}</bdi> and still fire are told
        now.
      </p>
    ),
    run: async () => {
      await call('endSilence', { id: silence.id })
      await refresh()
      return 'The silence is over.'
    },
  }
}

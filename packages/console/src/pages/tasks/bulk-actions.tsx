// What can be done with several tasks at once. Before each the server says how many it would change; then it goes in bounded
// steps, and says how far it is.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { RedriveSheet } from '../redrive/redrive-sheet.tsx'

type What = { readonly q: string } | { readonly ids: string[] }
type Verb = 'cancel' | 'promote' | 'discard'

const VERBS: Readonly<
  Record<
    Verb,
    {
      readonly name: string
      readonly from: string
      readonly says: string
      readonly done: string
      readonly isDangerous: boolean
    }
  >
> = {
  cancel: {
    name: 'Cancel',
    from: 'live',
    says: 'They never run again; those that run are told to stop.',
    done: 'cancelled',
    isDangerous: true,
  },
  promote: {
    name: 'Promote',
    from: 'waiting',
    says: 'They are due at once, whatever they wait for.',
    done: 'promoted',
    isDangerous: false,
  },
  discard: {
    name: 'Discard',
    from: 'dead',
    says: 'They leave the dead letters. For 7 days this can be taken back.',
    done: 'discarded',
    isDangerous: true,
  },
}
const OPERATIONS = { cancel: 'cancelTasks', promote: 'promoteTasks', discard: 'discardTasks' } as const

/** On the command line. */
const wordsOf = (what: What): string =>
  'q' in what ? `--query ${shellWord(what.q)}` : what.ids.map(shellWord).join(' ')

export function BulkActions({
  what,
  count: some,
  onDone,
}: {
  readonly what: What
  readonly count: number | null
  readonly onDone: () => void
}) {
  const [open, setOpen] = useState<Verb | 'redrive' | null>(null)
  useCommands([
    { title: 'Redrive what is selected', key: 'r', group: 'On this page', run: () => setOpen('redrive') },
    ...(Object.keys(VERBS) as Verb[]).map((verb) => ({
      title: `${VERBS[verb].name} what is selected`,
      group: 'On this page' as const,
      run: () => setOpen(verb),
    })),
  ])
  return (
    <>
      <button type="button" className="button h-7" onClick={() => setOpen('redrive')}>
        Redrive …
      </button>
      {(Object.keys(VERBS) as Verb[]).map((verb) => (
        <button
          key={verb}
          type="button"
          className={`button h-7 ${VERBS[verb].isDangerous ? 'button-danger' : ''}`}
          onClick={() => setOpen(verb)}
        >
          {VERBS[verb].name} …
        </button>
      ))}
      {open === 'redrive' && (
        <RedriveSheet
          what={'q' in what ? { q: what.q === '' ? 'status:dead' : what.q } : what}
          command={'q' in what ? wordsOf(what) : `--query ${shellWord(`id:${what.ids.join(',')}`)}`}
          count={null}
          sample={'ids' in what ? (what.ids[0] ?? null) : null}
          onClose={() => {
            setOpen(null)
            onDone()
          }}
        />
      )}
      {open !== null && open !== 'redrive' && (
        <Bulk verb={open} what={what} selected={some} onClose={() => setOpen(null)} onDone={onDone} />
      )}
    </>
  )
}

interface BulkProps {
  readonly verb: Verb
  readonly what: What
  readonly selected: number | null
  readonly onClose: () => void
  readonly onDone: () => void
}

function Bulk({ verb, what, selected, onClose, onDone }: BulkProps) {
  const { name, from, says, done, isDangerous } = VERBS[verb]
  // A query that says nothing means every task: say so, as the command line does.
  const input = 'q' in what && what.q === '' ? { all: true as const } : what
  const tried = useOperation(
    OPERATIONS[verb],
    { ...input, dryRun: true },
    { everyMs: false, live: false, keepsPrevious: false },
  )
  const matched = tried.data?.matched
  const least = tried.data?.next === null ? '' : '≥ '
  return (
    <Confirm
      onClose={onClose}
      change={{
        title: `${name} tasks`,
        verb: matched === undefined ? name : `${name} ${least}${many(matched, 'task')}`,
        isDangerous,
        needsReason: isDangerous,
        isReady: matched !== undefined && matched > 0,
        command: `npx reprise ${verb} ${wordsOf(what)} --yes`,
        touches: (
          <>
            <p>
              {tried.error !== null
                ? tried.error.message
                : matched === undefined
                  ? 'Looking how many …'
                  : `${least}${many(matched, 'task')}${selected === null || selected === matched ? '' : ` of ${count(selected)}`} ${matched === 1 ? 'is' : 'are'} ${from}, and would be ${done}.`}
            </p>
            <p className="text-dim">{says}</p>
          </>
        ),
        run: async (reason) => {
          const because = reason === undefined ? {} : { reason }
          const changed: string[] = []
          let cursor: string | null = null
          do {
            const step: { readonly changed: readonly string[]; readonly next: string | null } = await call(
              OPERATIONS[verb],
              { ...input, ...because, ...(cursor === null ? {} : { cursor }) },
            )
            changed.push(...step.changed)
            cursor = step.next
          } while (cursor !== null)
          await refresh()
          onDone()
          const told = `${many(changed.length, 'task')} ${changed.length === 1 ? 'was' : 'were'} ${done}.`
          if (verb !== 'discard' || changed.length > 1_000 || changed.length === 0) return told
          return { says: told, undo: () => call('restoreTasks', { ids: changed, reason: 'discard taken back' }) }
        },
      }}
    />
  )
}

// Notes in a store: what operators leave on a task or a failure group, for the next person who looks. A note is shown from the
// moment it is stored. Its entry for the journal stands in the document until it is told, and so does that of its removal: a
// note that is being removed is hidden at once, and goes when its entry is told.

import type { TaskId, TenantId } from '../model/ids.ts'
import type { Collection } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { stepOrInsertTold, stepTold, type ToldDocument, tellLeftovers, untoldIndex } from '../port/told-documents.ts'

export interface StoredNote extends ToldDocument {
  /** `task:<id>`, or `group:<fingerprint>`. */
  readonly subject: string
  readonly text: string
  readonly by: string
  readonly at: number
  /** Whose task it is on; missing for a failure group, and in older documents. */
  readonly tenant?: TenantId
  readonly removed?: true
}

/** Older documents have no entries: theirs were told before they were stored. */
type KnownNote = Omit<StoredNote, 'untold'> & Partial<Pick<StoredNote, 'untold'>>

export const notesIn = (engine: Pick<Records, 'collection'>): Collection<StoredNote> =>
  engine.collection<StoredNote>({
    name: 'notes',
    indexes: {
      subject: ({ subject, removed }) => (removed === true ? null : subject),
      kind: ({ subject, removed }) => (removed === true ? null : (subject.split(':', 1)[0] ?? null)),
      untold: (note: KnownNote) => untoldIndex({ id: note.id, untold: note.untold ?? [] }),
    },
  })

type NoteInput = Omit<StoredNote, 'untold' | 'removed'>

const GROUP = 'group:'
const TASK = 'task:'

/** The task that it is on; null for one on a failure group. */
export const taskOfNote = ({ subject }: Pick<StoredNote, 'subject'>): TaskId | null =>
  subject.startsWith(TASK) ? (subject.slice(TASK.length) as TaskId) : null

const entryOf = (note: NoteInput, actor: string, reason: string) => {
  const group = note.subject.startsWith(GROUP) ? { fingerprint: note.subject.slice(GROUP.length) } : {}
  const data = { note: note.id, ...group }
  return { type: 'note', taskId: taskOfNote(note), attempt: null, actor, reason, data } as const
}

export async function addNote(engine: Pick<Records, 'collection' | 'journal'>, note: NoteInput): Promise<void> {
  const first = { ...note, untold: [entryOf(note, note.by, note.text)] }
  await stepOrInsertTold(engine.journal, notesIn(engine), first, (made) => made)
}

/** False if there is no such note. */
export async function removeNote(
  engine: Pick<Records, 'collection' | 'journal'>,
  id: string,
  actor: string,
): Promise<boolean> {
  const notes = notesIn(engine)
  const removed = await stepTold<StoredNote>(engine.journal, notes, id, (note: KnownNote) =>
    note.removed === true
      ? null
      : { ...note, removed: true, untold: [...(note.untold ?? []), entryOf(note, actor, 'A note was removed.')] },
  )
  if (removed === null) return false
  await notes.remove(id)
  return true
}

/** Finishes what processes left that died on the way. */
export async function tellNotes(engine: Pick<Records, 'collection' | 'journal'>, now: number): Promise<void> {
  const notes = notesIn(engine)
  for (const { id, removed } of await tellLeftovers(engine.journal, notes, now))
    if (removed === true) await notes.remove(id)
}

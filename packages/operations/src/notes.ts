// Notes that operators leave on a task or a failure group, for the next person who looks: what was tried, who was asked. Each is
// a document, shown with its subject, and an entry of the journal.

import { randomUUID } from 'node:crypto'
import {
  addNote,
  ConflictError,
  checkedText,
  type Engine,
  NotFoundError,
  notesIn,
  RequestError,
  removeNote,
  type StoredNote,
  type TenantId,
  taskOfNote,
} from '@reprise/core'
import { z } from 'zod'
import { type Caller, mayTouch, wholeStore } from './access/caller.ts'
import { visibleTask } from './access/own-tasks.ts'
import { addNoteBytes, withinBytes } from './bytes-beside.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import { checkedBy, Moment, NameInput, TaskIdInput } from './schemas/names.ts'
import type { Redaction } from './views.ts'

const TEXT_LENGTH_MAX = 2_000
const NOTES_PER_SUBJECT_MAX = 50
/** Of all failure groups together: they are read in one go, for a page of groups. */
const GROUP_NOTES_SHOWN_MAX = 1_000

const NoteView = z
  .object({ id: z.string(), text: z.string(), by: z.string(), at: Moment })
  .meta({ id: 'Note', description: 'What an operator noted.' })

/** With the notes on it, oldest first; missing where many are listed. */
export const withNotes = { notes: z.array(NoteView).optional() }

type Note = z.output<typeof NoteView>

export const noteOperations = {
  addNote: operation({
    route: 'POST /api/v1/notes',
    summary: 'Leave a note on a task or a failure group',
    description: 'It is shown with its subject. Notes on failure groups are for callers who may see all tenants.',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: z.object({
      task: TaskIdInput.optional(),
      fingerprint: NameInput.optional().meta({ description: 'Of a failure group, in place of a task.' }),
      text: checkedBy((value) => checkedText('text of a note', value, TEXT_LENGTH_MAX), 'The note.', TEXT_LENGTH_MAX),
    }),
    output: NoteView,
    answer: 'The note.',
    status: 201,
    problems: [404, 409],
    run: async (context, caller, { task, fingerprint, text }) => {
      const { engine, redaction } = context
      if ((task === undefined) === (fingerprint === undefined)) {
        throw new RequestError('REPRISE_INVALID', 'Give either a task or the fingerprint of a failure group.')
      }
      const on = task === undefined ? null : await visibleTask(engine, caller, task, { light: true })
      if (fingerprint !== undefined) {
        await refuseUnlessOn(context, 'dlq-inspector')
        await refuseUnknownGroup(engine, caller, fingerprint)
      }
      const subject = on === null ? `group:${fingerprint}` : `task:${on.id}`
      const { items } = await notesIn(engine).find({ index: 'subject', value: subject, limit: NOTES_PER_SUBJECT_MAX })
      if (items.length >= NOTES_PER_SUBJECT_MAX) {
        throw new ConflictError(
          `There are ${NOTES_PER_SUBJECT_MAX} notes on it already. Remove one that no longer counts.`,
        )
      }
      const note = { id: randomUUID(), subject, text, by: caller.actor, at: await engine.now() }
      if (on === null) await addNote(engine, note)
      else await noteOn(context, caller, { ...note, tenant: on.tenant })
      return shown(note, redaction)
    },
  }),
  removeNote: operation({
    route: 'DELETE /api/v1/notes/{id}',
    summary: 'Remove a note',
    tag: 'tasks',
    right: 'operate',
    tenants: 'own',
    input: z.object({ id: NameInput }),
    output: z.null(),
    answer: 'It is gone. The journal still has it.',
    status: 204,
    problems: [404],
    run: async (context, caller, { id }) => {
      const { engine } = context
      const note = (await notesIn(engine).get(id))?.document
      if (note === undefined) throw new NotFoundError('note', id)
      const taskId = taskOfNote(note)
      // One on a failure group, or an old one on a task that is gone, can be removed by a caller who may see everything.
      if (caller.tenants !== null) {
        const tenant =
          note.tenant ?? (taskId === null ? undefined : (await engine.task(taskId, { light: true }))?.tenant)
        if (tenant === undefined || !mayTouch(caller, tenant)) throw new NotFoundError('note', id)
      }
      if (taskId === null) await refuseUnlessOn(context, 'dlq-inspector')
      if (!(await removeNote(engine, id, caller.actor))) throw new NotFoundError('note', id)
      if (note.tenant !== undefined) await addNoteBytes(engine, note.tenant, -Buffer.byteLength(note.text))
      return null
    },
  }),
}

/** Its bytes count as the tenant's. */
function noteOn(context: Context, caller: Caller, note: Parameters<typeof addNote>[1] & { readonly tenant: TenantId }) {
  const bytes = Buffer.byteLength(note.text)
  return withinBytes(context, caller, note.tenant, bytes, async () => {
    await addNoteBytes(context.engine, note.tenant, bytes)
    await addNote(context.engine, note)
  })
}

async function refuseUnknownGroup(engine: Engine, caller: Caller, fingerprint: string): Promise<void> {
  wholeStore(caller)
  const { items } = await engine.tasks({ fingerprint: fingerprint as never, limit: 1 })
  if (items.length === 0) throw new NotFoundError('failure group', fingerprint)
}

const shown = ({ id, text, by, at }: Pick<StoredNote, 'id' | 'text' | 'by' | 'at'>, redaction: Redaction): Note => ({
  id,
  text: redaction.text(text),
  by,
  at,
})

/** The notes on a task. An id may be used again: those on an earlier task of the same id are not its own. */
export async function notesOnTask(
  { engine, redaction }: Pick<Context, 'engine' | 'redaction'>,
  { id, acceptedAt }: { readonly id: string; readonly acceptedAt: number },
): Promise<Note[]> {
  const query = { index: 'subject', value: `task:${id}`, limit: NOTES_PER_SUBJECT_MAX }
  const { items } = await notesIn(engine).find(query)
  return items.flatMap(({ document }) => (document.at < acceptedAt ? [] : [shown(document, redaction)]))
}

/** The notes on all failure groups, by fingerprint. */
export async function notesOnGroups({ engine, redaction, clock }: Context): Promise<ReadonlyMap<string, Note[]>> {
  const { items } = await notesIn(engine).find({ index: 'kind', value: 'group', limit: GROUP_NOTES_SHOWN_MAX })
  const notes = new Map<string, Note[]>()
  await inTurns(clock, items, ({ document }) => {
    const fingerprint = document.subject.slice('group:'.length)
    notes.set(fingerprint, [...(notes.get(fingerprint) ?? []), shown(document, redaction)])
  })
  return notes
}

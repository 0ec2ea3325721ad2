// The door of this room: failure groups as cases, and what the journal tells about causes.

export { casesIn, casesOf, stepCase } from './case-store.ts'
export { attemptKey, type CauseTally, type Failing, sortedOut, tallied } from './cause-tally.ts'
export {
  acknowledged,
  asksForVersions,
  CASE_STATUSES,
  type CaseState,
  type CaseStatus,
  counted,
  type GroupCase,
  ignored,
  isOver,
  merged,
  onTime,
  opened,
  recovered,
  reopened,
  resolved,
  splitBy,
  takenOut,
} from './group-case.ts'
export { addNote, notesIn, removeNote, type StoredNote, taskOfNote, tellNotes } from './note-store.ts'
export { compareVersions } from './version-order.ts'

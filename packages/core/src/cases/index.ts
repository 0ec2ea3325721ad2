// The door of this room: failure groups as cases, who owns them, notes, and what the journal tells about causes.

export { stepOrInsertTold, stepTold, type ToldDocument, tellLeftovers, untoldIndex } from '../port/told-documents.ts'
export { casesIn, casesOf, stepCase } from './case-store.ts'
export { attemptKey, BAD_ENDS, type CauseTally, type Failing, sortedOut, tallied } from './cause-tally.ts'
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
  nextReminder,
  onTime,
  opened,
  recovered,
  reminded,
  reopened,
  resolved,
  splitBy,
  takenOut,
} from './group-case.ts'
export { addNote, notesIn, removeNote, type StoredNote, taskOfNote, tellNotes } from './note-store.ts'
export {
  checkedReminders,
  OWNER_RULES_MAX,
  type OwnerRule,
  ownershipOf,
  REMIND_MS_DEFAULT,
  REMINDERS_MAX,
} from './owners.ts'
export { compareVersions } from './version-order.ts'

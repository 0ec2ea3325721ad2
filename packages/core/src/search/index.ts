// The door of this room: the query language, search, counting and export.

export { COUNT_FIELDS, countedBy, countTasks } from './count-tasks.ts'
export { type ExportedTask, exportTask, exportTasks } from './export-tasks.ts'
export { completions } from './query-completions.ts'
export {
  ALL_TASKS,
  compileFilter,
  fieldNamed,
  formatQuery,
  matches,
  type SeenTask,
  type TaskFilter,
} from './query-language.ts'
export { parseQuery } from './query-syntax.ts'
export { queryWarnings } from './query-warnings.ts'
export { isWhole, SCAN_MAX, type SearchOptions, type SearchPage, searchTasks } from './search.ts'

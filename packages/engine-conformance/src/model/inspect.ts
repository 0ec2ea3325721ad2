// Inspection of the model: it keeps nothing twice, so there is nothing that could differ.

import { BATCH_MAX, type InspectRequest, type InspectResult } from '@reprise/core'
import { checkInspector, checkLimit, inspectPlace } from '@reprise/core/engine'
import type { State } from './state.ts'

export function inspect(state: State, request: InspectRequest): InspectResult {
  checkLimit(request.limit ?? BATCH_MAX)
  checkInspector(request)
  inspectPlace(['tasks'], request.cursor)
  return { checked: state.tasks.size, findings: [], unchecked: [], next: null }
}

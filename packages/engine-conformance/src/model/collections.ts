// Typed documents as a plain map per collection. Documents are kept as JSON text, so that what comes back is what any
// store would give back, and nobody can change a stored document from outside.

import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type Document,
  encodeJson,
  InvalidError,
  NotFoundError,
  type Page,
  type PageRequest,
  type Stored,
} from '@reprise/core'
import { DOCUMENT_BYTES_MAX, pageCursor, pageLimit } from '@reprise/core/engine'
import type { State, StoredDocuments, StoredText } from './state.ts'

/** Runs one step of the model: with the time of now, and refused once it is closed. */
export type Step = <T>(body: (state: State) => T) => Promise<T>

export function openCollection<D extends Document>(
  definition: CollectionDefinition<D>,
  reading: Step,
  writing: Step,
): Collection<D> {
  const documentsOf = (state: State): StoredDocuments => {
    const known = state.collections.get(definition.name) ?? { orderLast: 0, byId: new Map() }
    state.collections.set(definition.name, known)
    return known
  }
  // What is stored under this name was put there through this definition.
  const view = ({ text, version, createdAt, updatedAt }: StoredText): Stored<D> => ({
    document: JSON.parse(text) as D,
    version,
    createdAt,
    updatedAt,
  })
  const textOf = (document: D): string => encodeJson(document, 'document', DOCUMENT_BYTES_MAX)
  const taken = (id: string): ConflictError => new ConflictError(`${definition.name} '${id}' was changed meanwhile.`)
  const page = (state: State, request: PageRequest, matches: (document: D) => boolean): Page<Stored<D>> => {
    const limit = pageLimit(request)
    const after = pageCursor(request) ?? 0
    const rest = [...documentsOf(state).byId.values()].filter(
      (stored) => stored.order > after && matches(view(stored).document),
    )
    const shown = rest.slice(0, limit)
    return { items: shown.map(view), next: rest.length > limit ? String(shown.at(-1)?.order) : null }
  }

  return {
    insert: (document) =>
      writing((state) => {
        const text = textOf(document)
        const documents = documentsOf(state)
        if (documents.byId.has(document.id)) throw taken(document.id)
        const order = ++documents.orderLast
        const stored: StoredText = { text, version: 1, createdAt: state.now, updatedAt: state.now, order }
        documents.byId.set(document.id, stored)
        return view(stored)
      }),
    update: (document, version) =>
      writing((state) => {
        const text = textOf(document)
        const { byId } = documentsOf(state)
        const known = byId.get(document.id)
        if (known === undefined) throw new NotFoundError(definition.name, document.id)
        if (known.version !== version) throw taken(document.id)
        const stored: StoredText = { ...known, text, version: version + 1, updatedAt: state.now }
        byId.set(document.id, stored)
        return view(stored)
      }),
    remove: (id, version) =>
      writing((state) => {
        const { byId } = documentsOf(state)
        const known = byId.get(id)
        if (known !== undefined && version !== undefined && known.version !== version) throw taken(id)
        return byId.delete(id)
      }),
    get: (id) =>
      reading((state) => {
        const known = documentsOf(state).byId.get(id)
        return known === undefined ? null : view(known)
      }),
    list: (request = {}) => reading((state) => page(state, request, () => true)),
    find: (query) =>
      reading((state) => {
        const index = definition.indexes[query.index]
        if (index === undefined) throw new InvalidError(`${definition.name} has no index '${query.index}'.`)
        return page(state, query, (document) => index(document) === query.value)
      }),
  }
}

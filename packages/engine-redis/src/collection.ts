// Collections: typed documents with declared indexes and optimistic versions. What a document is found by is worked out
// here and written with it. Names, ids and values are handed to the scripts as JSON texts, which any text survives.

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
  StoreFailedError,
} from '@reprise/core'
import { DOCUMENT_BYTES_MAX, pageCursor, pageLimit } from '@reprise/core/engine'
import type { DrawRequestId } from './claim.ts'
import { ScriptRefusal } from './link/link.ts'
import { asTexts, type Partition } from './partition.ts'
import { documentPutScript, documentRemoveScript, listDocumentsScript } from './scripts.generated.ts'

export function collectionOf<D extends Document>(
  partition: Partition,
  definition: CollectionDefinition<D>,
  drawRequestId: DrawRequestId,
): Collection<D> {
  const name = JSON.stringify(definition.name)

  const refusal = (error: unknown, id: string): unknown => {
    if (!(error instanceof ScriptRefusal)) return error
    if (error.message === 'missing') return new NotFoundError(definition.name, id)
    if (error.message === 'taken') return new ConflictError(`${definition.name} '${id}' was changed meanwhile.`)
    return new StoreFailedError(`A change of a document was refused: ${error.message}`)
  }

  const put = async (document: D, version: string): Promise<Stored<D>> => {
    const text = encodeJson(document, 'document', DOCUMENT_BYTES_MAX)
    // Indexes are about what is stored: what JSON leaves out or changes, they must not see.
    const stored = JSON.parse(text) as D
    const indexes = Object.entries(definition.indexes).flatMap(([index, indexed]) => {
      const value = indexed(stored)
      return typeof value === 'string' ? [indexName(index, value)] : []
    })
    const args = [drawRequestId(), name, JSON.stringify(document.id), version, text, ...indexes]
    try {
      return storedOf(text, asTexts(await partition.run(documentPutScript, args)))
    } catch (error) {
      throw refusal(error, document.id)
    }
  }

  const page = async (request: PageRequest, index: string): Promise<Page<Stored<D>>> => {
    const limit = pageLimit(request)
    let after = String(pageCursor(request) ?? 0)
    const rows: string[][] = []
    do {
      const wanted = String(limit + 1 - rows.length)
      const fields = asTexts(await partition.run(listDocumentsScript, [name, index, after, wanted]))
      for (let at = 1; at < fields.length; at += FIELDS_PER_DOCUMENT) {
        rows.push(fields.slice(at, at + FIELDS_PER_DOCUMENT))
      }
      after = fields[0] ?? ''
    } while (after !== '' && rows.length <= limit)
    const shown = rows.slice(0, limit)
    return {
      items: shown.map(([, text = '', ...numbers]) => storedOf<D>(text, numbers)),
      next: rows.length > limit ? String(shown.at(-1)?.[0]) : null,
    }
  }

  return {
    insert: (document) => put(document, ''),
    update: (document, version) => put(document, String(version)),
    async remove(id, version) {
      const args = [drawRequestId(), name, JSON.stringify(id), version === undefined ? '' : String(version)]
      try {
        return (await partition.run(documentRemoveScript, args)) === 1
      } catch (error) {
        throw refusal(error, id)
      }
    },
    async get(id) {
      const key = partition.key(`document:${name}\n${JSON.stringify(id)}`)
      const [text = '', ...numbers] = asTexts(
        await partition.command('HMGET', key, 'text', 'version', 'createdAt', 'updatedAt'),
      )
      return text === '' ? null : storedOf<D>(text, numbers)
    },
    list: async (request = {}) => page(request, ''),
    async find(query) {
      if (!Object.hasOwn(definition.indexes, query.index)) {
        throw new InvalidError(`${definition.name} has no index '${query.index}'.`)
      }
      return page(query, indexName(query.index, query.value))
    },
  }
}

const FIELDS_PER_DOCUMENT = 5

const indexName = (index: string, value: string): string => JSON.stringify([index, value])

/** What is stored under this name was put there through this definition. */
function storedOf<D extends Document>(text: string, [version, createdAt, updatedAt]: readonly string[]): Stored<D> {
  return {
    document: JSON.parse(text) as D,
    version: Number(version),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
  }
}

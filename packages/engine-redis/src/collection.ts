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
import { DOCUMENT_ROW, recordOf, records } from './layout.ts'
import { ScriptRefusal } from './link/link.ts'
import { asTexts, type Partition } from './partition.ts'
import { documentPutScript, documentRemoveScript, listDocumentsScript } from './scripts.generated.ts'

export function collectionOf<D extends Document>(
  partition: Partition,
  definition: CollectionDefinition<D>,
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
    const args = [name, JSON.stringify(document.id), version, text, ...indexes]
    try {
      const [version = '', createdAt = '', updatedAt = ''] = asTexts(await partition.once(documentPutScript, args))
      return storedOf({ text, version, createdAt, updatedAt })
    } catch (error) {
      throw refusal(error, document.id)
    }
  }

  const page = async (request: PageRequest, index: string): Promise<Page<Stored<D>>> => {
    const limit = pageLimit(request)
    let after = String(pageCursor(request) ?? 0)
    const rows: Row[] = []
    do {
      const wanted = String(limit + 1 - rows.length)
      const fields = asTexts(await partition.run(listDocumentsScript, [name, index, after, wanted]))
      rows.push(...records(DOCUMENT_ROW, fields, 1))
      after = fields[0] ?? ''
    } while (after !== '' && rows.length <= limit)
    const shown = rows.slice(0, limit)
    return {
      items: shown.map((row) => storedOf<D>(row)),
      next: rows.length > limit ? String(shown.at(-1)?.order) : null,
    }
  }

  return {
    insert: (document) => put(document, ''),
    update: (document, version) => put(document, String(version)),
    async remove(id, version) {
      const args = [name, JSON.stringify(id), version === undefined ? '' : String(version)]
      try {
        return (await partition.once(documentRemoveScript, args)) === 1
      } catch (error) {
        throw refusal(error, id)
      }
    },
    async get(id) {
      const key = partition.key(`document:${name}\n${JSON.stringify(id)}`)
      const row = recordOf(DOCUMENT_ROW, asTexts(await partition.command('HMGET', key, ...DOCUMENT_ROW)))
      return row.text === '' ? null : storedOf<D>(row)
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

type Row = Readonly<Record<(typeof DOCUMENT_ROW)[number], string>>

const indexName = (index: string, value: string): string => JSON.stringify([index, value])

/** What is stored under this name was put there through this definition. */
function storedOf<D extends Document>({ text, version, createdAt, updatedAt }: Omit<Row, 'order'>): Stored<D> {
  return {
    document: JSON.parse(text) as D,
    version: Number(version),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
  }
}

// Collections: typed documents with declared indexes and optimistic versions, as rows of two tables.

import {
  type Collection,
  type CollectionDefinition,
  ConflictError,
  type Document,
  encodeJson,
  InvalidError,
  knownName,
  NotFoundError,
  type Page,
  type Stored,
} from '@reprise/core'
import { DOCUMENT_BYTES_MAX, pageCursor, pageLimit } from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'

interface DocumentRow {
  readonly number: number
  readonly id: string
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
  readonly body: string
}

export function collectionOf<D extends Document>(
  db: Database,
  commits: GroupCommit,
  read: <T>(look: () => T) => Promise<T>,
  definition: CollectionDefinition<D>,
): Collection<D> {
  const name = knownName('collection name', definition.name)
  const find = (id: string): DocumentRow | undefined => db.get<DocumentRow>('getDocument', name, id)

  // Computed before the transaction: what a definition throws must not leave half a document behind.
  const indexValues = (document: D): (readonly [index: string, value: string])[] =>
    Object.entries(definition.indexes).flatMap(([index, indexed]) => {
      const value = indexed(document)
      if (value === null) return []
      if (typeof value !== 'string') {
        throw new InvalidError(`Index '${index}' of '${name}' gave ${typeof value}, not a string or null.`)
      }
      return [[index, value] as const]
    })

  const writeIndexes = (db: Database, number: number, values: ReturnType<typeof indexValues>): void => {
    db.run('deleteDocumentIndexes', number)
    for (const [index, value] of values) db.run('insertDocumentIndex', name, index, value, number)
  }

  return {
    async insert(document) {
      const body = encodeJson(document, `document of '${name}'`, DOCUMENT_BYTES_MAX)
      knownName('document id', document.id)
      const values = indexValues(document)
      return commits.write((transaction) => {
        if (find(document.id) !== undefined)
          throw new ConflictError(`There is a document '${document.id}' in '${name}' already.`)
        const { lastId } = transaction.db.run(
          'insertDocument',
          name,
          document.id,
          transaction.now,
          transaction.now,
          body,
        )
        writeIndexes(transaction.db, lastId, values)
        return storedOf<D>(find(document.id))
      })
    },
    async update(document, version) {
      const body = encodeJson(document, `document of '${name}'`, DOCUMENT_BYTES_MAX)
      const values = indexValues(document)
      return commits.write((transaction) => {
        const row = find(document.id)
        if (row === undefined) throw new NotFoundError(`document in '${name}'`, document.id)
        checkVersion(row, version)
        transaction.db.run('updateDocument', transaction.now, body, row.number)
        writeIndexes(transaction.db, row.number, values)
        return storedOf<D>(find(document.id))
      })
    },
    remove: (id, version) =>
      commits.write((transaction) => {
        const row = find(id)
        if (row === undefined) return false
        if (version !== undefined) checkVersion(row, version)
        transaction.db.run('deleteDocumentIndexes', row.number)
        transaction.db.run('deleteDocument', row.number)
        return true
      }),
    get: (id) =>
      read(() => {
        const row = find(id)
        return row === undefined ? null : storedOf<D>(row)
      }),
    list: (page) =>
      read(() => {
        const limit = pageLimit(page)
        return pageOf<D>(db.all<DocumentRow>('listDocuments', name, pageCursor(page) ?? 0, limit), limit)
      }),
    find: (query) =>
      read(() => {
        if (!Object.hasOwn(definition.indexes, query.index))
          throw new InvalidError(`The collection '${name}' has no index '${query.index}'.`)
        const limit = pageLimit(query)
        return pageOf<D>(
          db.all<DocumentRow>('findDocuments', name, query.index, query.value, pageCursor(query) ?? 0, limit),
          limit,
        )
      }),
  }
}

function checkVersion(row: DocumentRow, version: number): void {
  if (row.version !== version) {
    throw new ConflictError(
      `Document '${row.id}' has version ${row.version}, not ${version}: somebody changed it. Read it again and repeat your change.`,
    )
  }
}

function pageOf<D extends Document>(rows: DocumentRow[], limit: number): Page<Stored<D>> {
  return {
    items: rows.map((row) => storedOf<D>(row)),
    next: rows.length === limit ? String(rows.at(-1)?.number ?? 0) : null,
  }
}

function storedOf<D extends Document>(row: DocumentRow | undefined): Stored<D> {
  if (row === undefined) throw new Error('A document vanished within its own transaction.')
  return {
    document: JSON.parse(row.body) as D,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

// Typed documents with declared indexes and optimistic versions. Work orders, policies, alerts, tokens and runs are
// collections, so that an engine implements such things once.

import type { Page, PageRequest } from './queries.ts'

/** Plain JSON data with an id. */
export interface Document {
  readonly id: string
}

export interface CollectionDefinition<D extends Document> {
  readonly name: string
  /** Named values to find documents by: one each, or null to leave a document out of that index. */
  readonly indexes: Readonly<Record<string, (document: D) => string | null>>
}

export interface Stored<D extends Document> {
  readonly document: D
  /** From 1; counts up with each change. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

interface FindQuery extends PageRequest {
  readonly index: string
  readonly value: string
}

export interface Collection<D extends Document> {
  /** `ConflictError` if the id is taken. */
  insert(document: D): Promise<Stored<D>>
  /** Replaces the document if it still has this version, else `ConflictError`; `NotFoundError` if there is none. */
  update(document: D, version: number): Promise<Stored<D>>
  /** False if there was none. `ConflictError` if a version is given and it has another. */
  remove(id: string, version?: number): Promise<boolean>
  get(id: string): Promise<Stored<D> | null>
  /** By creation, oldest first. */
  list(page?: PageRequest): Promise<Page<Stored<D>>>
  find(query: FindQuery): Promise<Page<Stored<D>>>
}

export const DOCUMENT_BYTES_MAX = 262_144

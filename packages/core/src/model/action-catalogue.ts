// The actions that workers offer, as the store knows them: name, pool and settings. Workers write theirs when they start, so
// that a caller who submits by name alone, over HTTP or from a command line, gets the settings that the action declares.

import type { Document } from '../port/collection.ts'
import type { Engine } from '../port/engine.ts'
import type { Page, PageRequest } from '../port/queries.ts'
import { isRepriseError } from './errors.ts'
import type { ActionName, PoolName } from './ids.ts'
import type { OpenSetting } from './setting-defaults.ts'
import { currentSettings } from './stored-names.ts'
import type { TaskSettings } from './task.ts'

export interface CataloguedAction {
  readonly name: ActionName
  readonly pool: PoolName
  readonly settings: TaskSettings
  /** What the system may fill in; nothing if missing, as in documents of earlier versions. */
  readonly leftOpen?: readonly OpenSetting[]
  /** The JSON Schema of what it takes, as text; missing if nobody published one. */
  readonly inputSchema?: string | undefined
}

interface CatalogueDocument extends Document, Omit<CataloguedAction, 'name'> {}

type Store = Pick<Engine, 'collection'>

const catalogueOf = (engine: Store) => engine.collection<CatalogueDocument>({ name: 'actions', indexes: {} })

/** Writes what is new or has changed. Of two versions at once the later one counts. */
export async function publishActions(engine: Store, actions: readonly CataloguedAction[]): Promise<void> {
  const catalogue = catalogueOf(engine)
  for (const { name, pool, settings, leftOpen = [], inputSchema } of actions) {
    const document = { id: name, pool, settings, leftOpen, ...(inputSchema === undefined ? {} : { inputSchema }) }
    const found = await catalogue.get(name)
    if (found !== null && JSON.stringify(found.document) === JSON.stringify(document)) continue
    try {
      if (found === null) await catalogue.insert(document)
      else await catalogue.update(document, found.version)
    } catch (error) {
      // Another worker of the same application was quicker.
      if (!isRepriseError(error, 'REPRISE_CONFLICT') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
    }
  }
}

export async function findAction(engine: Store, name: ActionName): Promise<CataloguedAction | null> {
  const found = await catalogueOf(engine).get(name)
  if (found === null) return null
  return actionOf(found.document)
}

export async function listActions(engine: Store, page?: PageRequest): Promise<Page<CataloguedAction>> {
  const { items, next } = await catalogueOf(engine).list(page)
  return { items: items.map(({ document }) => actionOf(document)), next }
}

const actionOf = ({ id, settings, ...action }: CatalogueDocument): CataloguedAction => ({
  name: id as ActionName,
  ...action,
  settings: currentSettings(settings),
})

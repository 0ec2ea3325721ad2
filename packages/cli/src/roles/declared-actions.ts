// The actions that packs declare, for the roles that make tasks of what names an action.

import type { CataloguedAction } from '@reprise/core'

export async function declaredActions(paths: readonly string[]): Promise<readonly CataloguedAction[]> {
  if (paths.length === 0) return []
  const { loadPacks } = await import('@reprise/policies')
  const packs = (await Promise.all(paths.map(loadPacks))).flat()
  return packs.flatMap(({ actions }) => actions.map(({ action }) => action))
}

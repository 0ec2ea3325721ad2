// The user's modules of actions: found by their paths, loaded, and looked through for actions that have a handler.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AnyAction } from '@reprise/worker'
import type { Host } from '../host.ts'
import { usageError } from '../output/errors.ts'
import { importModule } from './import-module.ts'
import { loadProblem } from './load-error.ts'

/** Every action that these modules export: by name, as default, or in a list. Each once, however often it is exported. */
export async function loadActions(
  paths: readonly string[],
  host: Pick<Host, 'cwd' | 'importModule'>,
): Promise<readonly AnyAction[]> {
  const found: AnyAction[] = []
  for (const path of paths) found.push(...(await actionsOf(resolve(host.cwd, path), host)))
  return [...new Set(found)]
}

async function actionsOf(file: string, host: Pick<Host, 'cwd' | 'importModule'>): Promise<readonly AnyAction[]> {
  if (!existsSync(file)) throw usageError(`There is no module ${file}.`)
  let exported: unknown
  try {
    exported = await importModule(file, host)
  } catch (error) {
    const { text, hint } = loadProblem(error, host.cwd)
    throw usageError(`The module ${file} can't be loaded. ${text}`, hint, error)
  }
  const actions = actionsIn(exported)
  if (actions.length === 0) {
    throw usageError(
      `The module ${file} exports no action with a handler.`,
      'Export what defineAction({ name, run }) gives, by name or in a list: export const actions = [sendInvoice].',
    )
  }
  return actions
}

function actionsIn(exported: unknown): AnyAction[] {
  if (typeof exported !== 'object' || exported === null) return []
  return Object.values(exported).flatMap((value: unknown) => {
    if (Array.isArray(value)) return value.filter(isAction)
    return isAction(value) ? [value] : []
  })
}

/** By its shape: the module may bring its own copy of the package. */
function isAction(value: unknown): value is AnyAction {
  if (typeof value !== 'object' || value === null) return false
  const { name, pool, settings, run } = value as Partial<Record<keyof AnyAction, unknown>>
  return (
    typeof name === 'string' && typeof pool === 'string' && typeof settings === 'object' && typeof run === 'function'
  )
}

// Where packs stand on disk: a file each, or a folder each, as `packs/<pack>/actions/<action>.yaml` (C11). What is in the files
// is packs.ts.

import { type Dirent, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { InvalidError } from '@reprise/core'
import { ConfigurationError, type Problem } from './configuration-error.ts'
import { type DeclaredAction, emptyPackHead, type Pack, parsePack, parsePackAction, parsePackHead } from './packs.ts'
import { readFileText } from './yaml-file.ts'

const FILES_MAX = 1_000
const ACTIONS_FOLDER = 'actions'
const HEADS = ['pack.yaml', 'pack.yml'] as const

/**
 * The packs at a path: one file; a folder with a folder `actions`, which is one pack; or a folder of both. `ConfigurationError`
 * with all that is wrong.
 */
export async function loadPacks(path: string): Promise<readonly Pack[]> {
  const problems: Problem[] = []
  const packs: Pack[] = []
  for (const { at, read } of await packsAt(path)) {
    const pack = await collecting(problems, () => read(at))
    if (pack !== null) packs.push(pack)
  }
  problems.push(...repeated(packs))
  if (problems.length > 0) throw new ConfigurationError(problems)
  return packs
}

/** Null if it has problems, which are noted. */
async function collecting<T>(problems: Problem[], read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    problems.push(...error.problems)
    return null
  }
}

interface Place {
  readonly at: string
  readonly read: (at: string) => Promise<Pack>
}

async function packsAt(path: string): Promise<readonly Place[]> {
  const entries = await entriesOf(path)
  if (entries === null) return [{ at: path, read: packInFile }]
  if (isPackFolder(path)) return [{ at: path, read: packInFolder }]
  const files = yamlIn(entries).map((name): Place => ({ at: join(path, name), read: packInFile }))
  const folders = entries
    .filter((entry) => entry.isDirectory() && isPackFolder(join(path, entry.name)))
    .map(({ name }): Place => ({ at: join(path, name), read: packInFolder }))
  return bounded(
    path,
    [...files, ...folders].toSorted((a, b) => (a.at < b.at ? -1 : 1)),
  )
}

const isPackFolder = (path: string): boolean => existsSync(join(path, ACTIONS_FOLDER))

const packInFile = async (file: string): Promise<Pack> => parsePack((await readFileText(file)).text, file)

/** All problems of all its files at once. */
async function packInFolder(folder: string): Promise<Pack> {
  const name = basename(resolve(folder))
  const head = HEADS.map((one) => join(folder, one)).find((one) => existsSync(one))
  const problems: Problem[] = []
  const common =
    head === undefined
      ? emptyPackHead(name)
      : await collecting(problems, async () => parsePackHead((await readFileText(head)).text, head, name))
  const actions: DeclaredAction[] = []
  const inside = join(folder, ACTIONS_FOLDER)
  for (const file of bounded(inside, yamlIn((await entriesOf(inside)) ?? []))) {
    const at = join(inside, file)
    const read = async () =>
      parsePackAction((await readFileText(at)).text, at, basename(file, extname(file)), common ?? emptyPackHead(name))
    const action = await collecting(problems, read)
    if (action !== null) actions.push(action)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)
  return { name: common?.pack ?? name, file: folder, actions }
}

/** Null for a file. */
async function entriesOf(path: string): Promise<readonly Dirent[] | null> {
  return readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return null
    throw new InvalidError(`The packs at '${path}' can't be read: ${error.message}.`)
  })
}

const yamlIn = (entries: readonly Dirent[]): readonly string[] =>
  entries
    .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .toSorted()

function bounded<Item>(path: string, items: readonly Item[]): readonly Item[] {
  if (items.length <= FILES_MAX) return items
  throw new InvalidError(`'${path}' holds ${items.length} packs or actions; at most ${FILES_MAX} are read.`)
}

/** An action's name is its own in all packs: tasks go by it. */
function repeated(packs: readonly Pack[]): Problem[] {
  const owners = new Map<string, string>()
  const problems: Problem[] = []
  for (const { file, name: pack, actions } of packs) {
    for (const { action } of actions) {
      const owner = owners.get(action.name)
      if (owner === undefined) owners.set(action.name, file)
      else {
        const message = `The action '${action.name}' of pack '${pack}' is declared in ${owner} already.`
        problems.push({ file, line: 1, column: 1, path: 'actions', message })
      }
    }
  }
  return problems
}

// A dry run of policies, and whose: those in force at a server or in a store, those of a file tried there, or a file alone.
// Without --policies it is what is in force, if there is anything to ask; the answer always says what decided.

import type { Simulation, SimulationRequest } from '@reprise/client'
import { actionName, type Engine, findAction, NO_POLICIES, type PolicyBook, type TaskSettings } from '@reprise/core'
import { shownAddress } from '../configuration/store-address.ts'
import type { Invocation } from '../frame/invocation.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { Target } from '../session.ts'
import { storeOf } from './store.ts'

export interface Simulated extends Simulation {
  /** The file that decided; null for what is in force, or nothing. */
  readonly policies: string | null
  /** The version in force that decided; null if none did. */
  readonly version: number | null
  /** Whose policies, in a sentence. */
  readonly by: string
}

type Asked = Omit<SimulationRequest, 'text'>
interface Trial {
  readonly asked: Asked
  readonly file: PolicyFile | null
  /** Those of a pack, which come before what the action published. */
  readonly settings: TaskSettings | undefined
}

export async function simulated(invocation: Invocation, asked: Asked): Promise<Simulated> {
  const { values, origins } = await invocation.configuration()
  const isFlag = (name: 'policies' | 'packs' | 'url' | 'engine'): boolean => origins[name].kind === 'flag'
  const isFileOnly = isFlag('policies') && !isFlag('url') && !isFlag('engine')
  const target = isFileOnly ? null : await targetIfAny(invocation)
  const path = target === null || isFlag('policies') ? values.policies : null
  const file = path === null ? null : await policyFile(path)
  const packs = target === null || isFlag('packs') ? values.packs : []
  const trial: Trial = { asked, file, settings: await packSettings(asked.action, packs) }
  if (target === null) return byFileAlone(trial)
  const engine = await storeOf(invocation)
  return engine === null
    ? throughServer(invocation, trial, shownTarget(target))
    : onStore(engine, trial, shownTarget(target))
}

async function byFileAlone({ asked, file, settings }: Trial): Promise<Simulated> {
  const by =
    file === null
      ? 'By no policy: none is configured, and there is no server or store to ask.'
      : `By the file ${file.path}.`
  return {
    policies: file?.path ?? null,
    version: null,
    by,
    ...(await tried(file?.book ?? NO_POLICIES, asked, settings)),
  }
}

async function throughServer(invocation: Invocation, { asked, file, settings }: Trial, at: string): Promise<Simulated> {
  const { policies } = await invocation.connect()
  const version = file === null ? (await policies.current()).version : null
  const text = file?.text ?? version?.text
  const result =
    settings === undefined
      ? await policies.simulate({ ...asked, ...(text === undefined ? {} : { text }) })
      : await tried(text === undefined ? NO_POLICIES : await bookOf(text, file?.path ?? at), asked, settings)
  return { ...decider(file, version?.number ?? null, at), ...result }
}

async function onStore(engine: Engine, { asked, file, settings }: Trial, at: string): Promise<Simulated> {
  const { openPolicies } = await import('@reprise/policies')
  const policies = await openPolicies({ engine })
  const known = settings ?? (await findAction(engine, actionName(asked.action)))?.settings
  const version = file === null ? (policies.version()?.number ?? null) : null
  return { ...decider(file, version, at), ...(await tried(file?.book ?? policies.current(), asked, known)) }
}

function decider(file: PolicyFile | null, version: number | null, at: string): Omit<Simulated, keyof Simulation> {
  if (file !== null) return { policies: file.path, version: null, by: `By the file ${file.path}, tried at ${at}.` }
  const by = version === null ? `By no policy: none is in force at ${at}.` : `By version ${version}, in force at ${at}.`
  return { policies: null, version, by }
}

async function tried(book: PolicyBook, asked: Asked, settings: TaskSettings | undefined): Promise<Simulation> {
  const { simulate } = await import('@reprise/policies')
  return simulate(book, { ...asked, ...(settings === undefined ? {} : { settings }) })
}

/** Null if nothing says where a server or a store is. That two places are named at once is still an error. */
async function targetIfAny(invocation: Invocation): Promise<Target | null> {
  try {
    return await invocation.target()
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === EXIT.error) return null
    throw error
  }
}

const shownTarget = (target: Target): string => (target.kind === 'http' ? target.url : shownAddress(target.address))

interface PolicyFile {
  readonly path: string
  readonly text: string
  readonly book: PolicyBook
}

async function policyFile(path: string): Promise<PolicyFile> {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`The policies at ${path} can't be read: ${error instanceof Error ? error.message : ''}`, {
      exitCode: EXIT.usage,
      cause: error,
    })
  })
  return { path, text, book: await bookOf(text, path) }
}

async function bookOf(text: string, file: string): Promise<PolicyBook> {
  const { parsePolicies } = await import('@reprise/policies')
  return parsePolicies(text, { file, version: 0 })
}

/** Of the pack that declares the action; undefined if none does. */
async function packSettings(action: string, paths: readonly string[]): Promise<TaskSettings | undefined> {
  if (paths.length === 0) return undefined
  const { loadPacks } = await import('@reprise/policies')
  const packs = (await Promise.all(paths.map(loadPacks))).flat()
  return packs.flatMap(({ actions }) => actions).find((declared) => declared.action.name === action)?.action.settings
}

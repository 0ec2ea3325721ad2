// A dry run of policies, and whose: those in force at a server or in a store, those of a file tried there, or a file alone.
// Without --policies it is what is in force, if there is anything to ask; the answer always says what decided.

import type { OperationOutput } from '@reprise/client'
import { NO_POLICIES, type TaskSettings } from '@reprise/core'
import type { Simulation } from '@reprise/policies'
import { fileText } from '../command/input.ts'
import type { Invocation } from '../command/invocation.ts'
import { shownAddress } from '../configuration/store-address.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { Target } from '../session.ts'

export interface Simulated extends OperationOutput<'simulatePolicies'> {
  /** The file that decided; null for what is in force, or nothing. */
  readonly policies: string | null
  /** The version in force that decided; null if none did. */
  readonly version: number | null
  /** Whose policies, in a sentence. */
  readonly by: string
}

type Asked = Omit<Simulation, 'settings' | 'roll'>

export async function simulated(invocation: Invocation, asked: Asked): Promise<Simulated> {
  const { parsePolicies, simulate } = await import('@reprise/policies')
  const { values, origins } = await invocation.configuration()
  const isFlag = (name: 'policies' | 'packs' | 'url' | 'engine'): boolean => origins[name].kind === 'flag'
  const isFileOnly = isFlag('policies') && !isFlag('url') && !isFlag('engine')
  const target = isFileOnly ? null : await targetIfAny(invocation)
  const at = target?.kind === 'engine' ? shownAddress(target.address) : (target?.url ?? null)
  const path = at === null || isFlag('policies') ? values.policies : null
  const file = path === null ? null : { path, text: await fileText(path) }
  // What is wrong with the file is said with its name, before anybody else is asked.
  const ofFile = file === null ? null : parsePolicies(file.text, { file: file.path, version: 0 })
  const settings = await packSettings(asked.action, at === null || isFlag('packs') ? values.packs : [])

  const client = at === null ? null : await invocation.connect()
  const version = client === null || file !== null ? null : (await client.policies()).version
  const whose = { policies: path, version: version?.number ?? null, by: byText(path, version?.number ?? null, at) }
  if (client !== null && settings === undefined) {
    return { ...whose, ...(await client.simulatePolicies({ ...asked, ...(file === null ? {} : { text: file.text }) })) }
  }
  // Nobody to ask, or settings of a pack, which come before what the action published.
  const inForce =
    version === null ? NO_POLICIES : parsePolicies(version.text, { file: at ?? '', version: version.number })
  return { ...whose, ...simulate(ofFile ?? inForce, { ...asked, ...(settings === undefined ? {} : { settings }) }) }
}

function byText(file: string | null, version: number | null, at: string | null): string {
  if (file !== null) return `By the file ${file}${at === null ? '' : `, tried at ${at}`}.`
  if (at === null) return 'By no policy: none is configured, and there is no server or store to ask.'
  return version === null ? `By no policy: none is in force at ${at}.` : `By version ${version}, in force at ${at}.`
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

/** Of the pack that declares the action; undefined if none does. */
async function packSettings(action: string, paths: readonly string[]): Promise<TaskSettings | undefined> {
  if (paths.length === 0) return undefined
  const { loadPacks } = await import('@reprise/policies')
  const packs = (await Promise.all(paths.map(loadPacks))).flat()
  return packs.flatMap(({ actions }) => actions).find((declared) => declared.action.name === action)?.action.settings
}

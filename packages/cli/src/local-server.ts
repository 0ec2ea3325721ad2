// The server that runs on this machine, as it leaves word of itself in the data folder: local.json, readable by its owner
// only, with its address and a token for the command line. Written by the server, read by everybody else.

import { chmod, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidError } from '@reprise/core'
import { readOwnFile } from './configuration/own-file.ts'
import { isThisMachine } from './loopback.ts'
import { CommandError } from './output/errors.ts'
import { makePrivateFolder } from './private-folder.ts'

export interface LocalServer {
  readonly url: string
  readonly token: string
}

const FILE = 'local.json'
const ANSWER_MS = 2_000

/**
 * Null if there is none, or what stands there is none of ours. Whether it still answers is another question. Throws if others may
 * have written it.
 */
export async function readLocalServer(data: string): Promise<LocalServer | null> {
  const path = join(data, FILE)
  try {
    const value: unknown = JSON.parse(readOwnFile(path))
    return isLocalServer(value) ? { url: value.url, token: value.token } : null
  } catch (error) {
    if (error instanceof InvalidError) throw new CommandError(`${path}: ${error.message}`)
    return null
  }
}

/** Gives a sentence to tell if not all was well with the folder. */
export async function writeLocalServer(data: string, server: LocalServer): Promise<string | null> {
  const mended = await makePrivateFolder(data)
  const path = join(data, FILE)
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, `${JSON.stringify(server)}\n`, { mode: 0o600 })
  // The mode of writeFile counts for new files only, and what is already there may be open to others.
  await chmod(fresh, 0o600)
  await rename(fresh, path)
  return mended
}

/** Only if it is still about this server: another may have started meanwhile. */
export async function removeLocalServer(data: string, server: LocalServer): Promise<void> {
  const found = await readLocalServer(data).catch(() => null)
  if (found?.token === server.token) await rm(join(data, FILE), { force: true })
}

/** The server that left word here, if it runs. One that does not know the token is another one that has its port now. */
export async function runningServer(data: string): Promise<LocalServer | null> {
  const server = await readLocalServer(data)
  if (server === null || !(await answers(server.url))) return null
  try {
    const response = await fetch(`${server.url}/api/v1/me`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
      headers: { authorization: `Bearer ${server.token}` },
    })
    await response.body?.cancel()
    return response.ok || response.status === 429 || response.status >= 500 ? server : null
  } catch {
    // It answers, but not this: its store may be away.
    return server
  }
}

export async function answers(url: string, timeoutMs: number = ANSWER_MS): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    await response.body?.cancel()
    return response.status < 500
  } catch {
    return false
  }
}

/** Whether a server of Reprise answers, and not some other program: its refusals bear our name, and need no token. */
export async function isReprise(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/api/v1/me`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const body: unknown = await response.json()
    if (typeof body !== 'object' || body === null) return false
    // The second where everybody on this host is let in.
    return (
      String(Reflect.get(body, 'type')).startsWith('urn:reprise:problem:') || Array.isArray(Reflect.get(body, 'scopes'))
    )
  } catch {
    return false
  }
}

/** A token is sent nowhere but to this machine. */
function isLocalServer(value: unknown): value is LocalServer {
  if (typeof value !== 'object' || value === null || !('url' in value) || !('token' in value)) return false
  const { url, token } = value
  if (typeof url !== 'string' || typeof token !== 'string' || token === '' || !URL.canParse(url)) return false
  return isThisMachine(new URL(url).hostname)
}

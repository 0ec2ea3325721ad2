// Checks of what servers leave on this machine: the data folder and the store in it, with their owners and modes, and word of a
// server that does not run any more.

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { storeAddress } from '../configuration/store-address.ts'
import { answers, readLocalServer } from '../local-server.ts'
import { type Check, type Finding, fail, ok, warn } from './finding.ts'

const OTHERS_WRITE = 0o022
/** In such a folder everybody makes files, and nobody touches those of others: /tmp. */
const STICKY = 0o1000
const OTHERS_READ = 0o044

/** Who owns the data folder and the embedded store, and who may change them. Nothing of what is not there yet. */
export const rights: Check = async ({ resolved, target }) => {
  const { data } = resolved.values
  const file = target?.kind === 'http' ? null : embeddedFile(storeAddress(resolved))
  const places = new Map<string, 'folder' | 'file'>([[data, 'folder']])
  // SQLite makes more files beside the first one.
  if (file !== null) places.set(dirname(file), 'folder').set(file, 'file')
  const looked = await Promise.all([...places].map(([path, kind]) => rightsOf(path, kind)))
  const found = looked.filter((one) => one !== null)
  const troubles = found.flat()
  if (found.length === 0 || troubles.length > 0) return troubles
  return [ok('rights', 'The data folder and the store are yours and can be written to.')]
}

function embeddedFile(address: string): string | null {
  const file = /^sqlite:([^?]+)/.exec(address)?.[1] ?? ':memory:'
  return file === ':memory:' || file.startsWith('//') ? null : file
}

/** Null if it is not there. */
async function rightsOf(path: string, kind: 'folder' | 'file'): Promise<readonly Finding[] | null> {
  const about = await stat(path).catch(() => null)
  if (about === null) return null
  const what = `The ${kind} ${path}`
  const needed = constants.R_OK | constants.W_OK | (kind === 'folder' ? constants.X_OK : 0)
  const found: Finding[] = []
  const isAllowed = await access(path, needed).then(
    () => true,
    () => false,
  )
  const mode = (about.mode & 0o777).toString(8)
  if (!isAllowed) {
    const says = `${what} can't be read and written by you (mode ${mode}, owner ${about.uid}).`
    found.push(fail('rights', says, 'Give it to the user that runs Reprise: chown, or chmod u+rw.'))
  }
  // Windows has neither owners nor modes of this kind.
  const ownId = process.getuid?.()
  if (ownId === undefined) return found
  if (about.uid !== ownId) {
    const says = `${what} belongs to another user (${about.uid}, you are ${ownId}).`
    found.push(warn('rights', says, 'Run Reprise as the owner, or choose another folder with --data.'))
  }
  const open = kind === 'file' ? OTHERS_READ | OTHERS_WRITE : (about.mode & STICKY) === 0 ? OTHERS_WRITE : 0
  const isOpen = (about.mode & open) !== 0
  if (isOpen) {
    const says = `Others can ${kind === 'folder' ? 'change what is in' : 'read or change'} ${path} (mode ${mode}).`
    found.push(warn('rights', says, `Run: chmod ${kind === 'folder' ? 'go-w' : '600'} ${path}`))
  }
  return found
}

/** A server that ended in order removes its word. If commands go nowhere, the check of the server says it. */
export const formerServer: Check = async ({ resolved, target }) => {
  if (target === null) return []
  const { data } = resolved.values
  const local = await readLocalServer(data).catch(() => null)
  if (local === null || (target.kind === 'http' && target.url === local.url) || (await answers(local.url))) return []
  const says = `The server that ran here (${local.url}) does not answer: it died, or was killed.`
  return [warn('former', says, `Start it again with 'reprise up', or remove ${data}/local.json.`)]
}

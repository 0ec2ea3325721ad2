// Checks of this machine: Node, room on the disk, the port, and who can read what the server leaves for the command line.

import { stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { messageOf } from '@reprise/core'
import { isReprise } from '../local-server.ts'
import { roomText } from '../output/times.ts'
import { type Check, fail, ok, warn } from './finding.ts'

const NODE_MIN = 24
const MB = 1_048_576
const ROOM_WARN_MB = 1_024
const ROOM_FAIL_MB = 100

export const node: Check = async () => {
  const { node: version } = process.versions
  if (Number.parseInt(version, 10) >= NODE_MIN) return [ok('node', `Node ${version}`)]
  return [fail('node', `Node ${version} is too old.`, `Install Node ${NODE_MIN} or newer.`)]
}

export const disk: Check = async ({ resolved }) => {
  const folder = await nearestFolder(resolved.values.data)
  const { bavail, bsize } = await statfs(folder)
  const room = bavail * bsize
  const roomMb = Math.floor(room / MB)
  const says = `${roomText(room)} are free at ${folder}.`
  const advice = 'Make room: a store that is full refuses new tasks.'
  if (roomMb < ROOM_FAIL_MB) return [fail('disk', says, advice)]
  return [roomMb < ROOM_WARN_MB ? warn('disk', says, advice) : ok('disk', says)]
}

/** The folder itself may not be there yet. */
async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found !== null || dirname(path) === path ? path : nearestFolder(dirname(path))
}

export const port: Check = async ({ resolved }) => {
  const { host, port: wanted } = resolved.values
  if (wanted === 0) return [ok('port', 'Any port that is free.')]
  const error = await listenError(host, wanted)
  if (error === null) return [ok('port', `${host}:${wanted} is free.`)]
  if (await isReprise(`http://${host}:${wanted}`))
    return [ok('port', `A server of Reprise answers on ${host}:${wanted}.`)]
  return [
    warn('port', `${host}:${wanted} can't be used: ${error}.`, 'Stop what has it, or choose another with --port.'),
  ]
}

function listenError(host: string, wanted: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(messageOf(error)))
    server.listen(wanted, host, () => server.close(() => resolve(null)))
  })
}

const OTHERS = 0o077

export const privacy: Check = async ({ resolved }) => {
  const path = join(resolved.values.data, 'local.json')
  const found = await stat(path).catch(() => null)
  if (found === null || process.platform === 'win32' || (found.mode & OTHERS) === 0) return []
  return [warn('privacy', `Others can read ${path}, which holds a token.`, `Run: chmod 600 ${path}`)]
}

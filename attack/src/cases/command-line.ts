// The command line of a developer: in a folder of somebody else's, and at a terminal that believes what it is told.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type AttackCase, judged } from '../case.ts'
import { runCommand } from '../stage/command.ts'
import type { Scene } from '../stage/scene.ts'
import { submitted } from './tasks.ts'

const TOKEN = `rpr_${'0123456789abcdef'}_${'c0ffee00'.repeat(8)}`
const TERMINAL = new URL('../stage/terminal.ts', import.meta.url)

/** A server that answers anything, and remembers what it was given. */
async function eavesdropper({ later }: Scene) {
  const heard: string[] = []
  const server = createServer((request, response) => {
    heard.push(request.headers.authorization ?? '')
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  later(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, isTold: () => heard.some((one) => one.includes(TOKEN)) }
}

const COMMANDS = [['status'], ['list'], ['doctor'], ['workers']] as const

async function toldBy(scene: Scene, write: (folder: string, url: string) => void): Promise<readonly string[]> {
  const told: string[] = []
  for (const words of scene.amount(1, 0) === 1 ? COMMANDS : COMMANDS.slice(0, 1)) {
    const folder = scene.folder()
    mkdirSync(folder, { recursive: true })
    const listener = await eavesdropper(scene)
    write(folder, listener.url)
    await runCommand(words, { cwd: folder, env: { REPRISE_TOKEN: TOKEN } })
    if (listener.isTold()) told.push(words.join(' '))
  }
  return told
}

/** Everything that a terminal takes for more than text, but for line ends. */
const RAW = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

export const commandLineCases: readonly AttackCase[] = [
  {
    name: 'token-to-the-address-of-a-file',
    tries: 'A reprise.yaml in the current folder names a server, which gets the token of the environment.',
    run: async (scene) => {
      const told = await toldBy(scene, (folder, url) => writeFileSync(join(folder, 'reprise.yaml'), `url: ${url}\n`))
      return judged(told.length > 0, told.length === 0 ? 'no token was sent' : `sent by ${told.join(', ')}`)
    },
  },
  {
    name: 'token-to-the-address-of-a-local-server',
    tries: 'A local.json that somebody else wrote names a server, which gets the token of the environment.',
    run: async (scene) => {
      const told = await toldBy(scene, (folder, url) => {
        const data = join(folder, '.reprise')
        mkdirSync(data)
        const file = join(data, 'local.json')
        writeFileSync(file, JSON.stringify({ url, token: 'theirs' }))
        chmodSync(file, 0o666)
        chmodSync(data, 0o777)
      })
      return judged(told.length > 0, told.length === 0 ? 'no token was sent' : `sent by ${told.join(', ')}`)
    },
  },
  {
    name: 'text-that-controls-a-terminal',
    tries: 'Payloads and reasons with control characters reach a terminal as they are.',
    run: async (scene) => {
      const { admin, a, server } = scene
      const evil = 'x\u009b31m\u202eevil\u2066\u001b]0;owned\u0007y'
      const operator = await a.as('operator')
      const id = await submitted(operator, {
        action: 'shared.work',
        payload: { text: evil, fail: evil, code: 'E_EVIL' },
        settings: { retry: { max: 0 } },
      })
      await operator.get(`/api/v1/tasks/${id}?wait=10s`)
      const folder = scene.folder()
      mkdirSync(folder, { recursive: true })
      const words = [
        ['list', '-o', 'json'],
        ['list', '-o', 'jsonl'],
        ['list'],
        ['explain', id, '-o', 'json'],
        ['explain', id],
        ['status', id, '-o', 'json'],
        ['groups', '-o', 'json'],
      ]
      const raw: string[] = []
      for (const command of words) {
        const at = ['--url', server.url, '--token', admin.token ?? '']
        const { stdout } = await runCommand([...command, ...at], {
          cwd: folder,
          preload: [TERMINAL],
          env: { NO_COLOR: '1' },
        })
        if (RAW.test(stdout)) raw.push(command.slice(0, 1).concat(command.slice(-1)).join(' '))
      }
      return judged(raw.length > 0, raw.length === 0 ? 'everything is escaped' : `raw in ${raw.join(', ')}`)
    },
  },
]

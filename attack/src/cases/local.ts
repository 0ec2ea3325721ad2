// The machine that the server runs on: folders that are open to others, tokens that stay, pages of strangers in a browser.

import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AttackCase, judged } from '../case.ts'
import { Api } from '../stage/api.ts'

interface Listed {
  readonly name: string
  readonly expiresAt: number | null
}

const HALF_A_DAY_MS = 12 * 3_600_000

const localToken = (data: string): string =>
  (JSON.parse(readFileSync(join(data, 'local.json'), 'utf8')) as { readonly token: string }).token

export const localCases: readonly AttackCase[] = [
  {
    name: 'folder-that-everybody-may-write',
    tries: 'A data folder that everybody may write to stays so, with the token of an admin in it.',
    run: async (scene) => {
      const folder = scene.folder()
      const data = join(folder, 'data')
      mkdirSync(data, { recursive: true })
      // Whatever the umask of this process is.
      const { chmodSync } = await import('node:fs')
      chmodSync(data, 0o777)
      const started = await scene.another({ folder }).then(
        () => true,
        () => false,
      )
      const mode = statSync(data).mode & 0o777
      const isOpen = started && (mode & 0o077) !== 0
      return judged(isOpen, started ? `the folder has mode ${mode.toString(8)}` : 'the server does not start')
    },
  },
  {
    name: 'local-token-after-its-server',
    tries: 'The token that `reprise up` left for the command line lets in after that server has ended.',
    run: async (scene) => {
      const store = `sqlite:${scene.folder()}.db`
      const before = await scene.another({ store })
      const token = localToken(before.data)
      await before.stop()
      const after = await scene.another({ store, role: 'core' })
      const api = new Api(after.url, token)
      const { status } = await api.get('/api/v1/me')
      api.close()
      return judged(status === 200, `answered ${status}`)
    },
  },
  {
    name: 'local-token-after-a-kill',
    tries: 'The token of a server that was killed, and could not revoke it, lets in for ever.',
    run: async (scene) => {
      const store = `sqlite:${scene.folder()}.db`
      const before = await scene.another({ store })
      const token = localToken(before.data)
      await before.kill()
      const after = await scene.another({ store, role: 'core' })
      const api = new Api(after.url, token)
      const { status, body } = await api.get<{ readonly items?: readonly Listed[] }>('/api/v1/tokens')
      api.close()
      const left = (body.items ?? []).filter(({ name }) => name.startsWith('local-'))
      const isForEver = left.some(({ expiresAt }) => expiresAt === null || expiresAt > Date.now() + HALF_A_DAY_MS)
      return judged(status === 200 && isForEver, `answered ${status}; ${left.length} left, with an end: ${!isForEver}`)
    },
  },
  {
    name: 'admin-link-beyond-loopback',
    tries: 'A server that other hosts can reach prints the link of the first admin, or takes one.',
    run: async (scene) => {
      const near = await scene.another({})
      const far = await scene.another({ arguments: ['--host', '0.0.0.0'] })
      const path = near.link === null ? '/auth/link/none' : new URL(near.link).pathname
      const api = new Api(far.url.replace('0.0.0.0', '127.0.0.1'), null)
      const { status } = await api.send('POST', path, { headers: { 'sec-fetch-site': 'same-origin' } })
      api.close()
      return judged(
        far.link !== null || status < 400,
        `${far.link === null ? 'no link' : 'a link'}; one gets ${status}`,
      )
    },
  },
  {
    name: 'metrics-by-another-name',
    tries: 'A page of a stranger points its name at this host, and reads the metrics as somebody near.',
    run: async ({ anyone }) => {
      const near = await anyone.get('/metrics')
      const strange = await anyone.get('/metrics', { headers: { host: 'evil.example' } })
      const browser = await anyone.get('/metrics', {
        headers: { host: 'evil.example:80', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
      })
      const isOpen = strange.status === 200 || browser.status === 200
      return judged(isOpen, `near ${near.status}, by another name ${strange.status} and ${browser.status}`)
    },
  },
]

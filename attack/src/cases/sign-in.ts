// Ways in: tokens of issuers that say less than they should, guesses that lock others out, sessions that stay.

import { type AttackCase, judged, succeeded } from '../case.ts'
import type { Answer } from '../stage/api.ts'
import { type Claims, googleServer } from '../stage/google.ts'
import type { Scene } from '../stage/scene.ts'
import { atOnce, statusesOf } from './answers.ts'
import { leased } from './leases.ts'

/** Tokens that Google signed, and that say too little, or something else. */
const FORGED: Readonly<Record<string, Claims>> = {
  'a private account with an address of the company': { email: 'eve@corp.example', hd: undefined },
  'an account of another organisation': { email: 'eve@corp.example', hd: 'evil.example' },
  "a private account with an admin's address": { email: 'boss@corp.example', hd: undefined },
  'a token of another application': {
    email: 'eve@corp.example',
    hd: 'corp.example',
    aud: ['reprise-tests', 'other-app'],
    azp: 'other-app',
  },
}

const HEX = '0123456789abcdef'
const guessedToken = (index: number): string =>
  `rpr_${String(index).padStart(16, '0')}_${HEX.repeat(4).slice(0, 56)}${String(index).padStart(8, '0')}`

async function guessed({ anyone }: Scene): Promise<readonly Answer[]> {
  const tokens = await atOnce(40, (index) => anyone.as(guessedToken(index)).get('/api/v1/me'))
  const leases = await atOnce(40, (index) =>
    anyone.post('/task-complete', { taskId: 'x', attempt: 1, token: `guess.${index}`, status: 'succeeded' }),
  )
  const links = await atOnce(40, (index) =>
    anyone.send('POST', `/auth/link/${HEX.repeat(4).slice(0, 56)}${String(index).padStart(8, '0')}`),
  )
  return [...tokens, ...leases, ...links]
}

const cookieOf = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] ?? '').join('; ')

/** Signs a browser in by the link that the server printed. */
async function signedIn({ anyone }: Pick<Scene, 'anyone'>, link: string | null): Promise<string> {
  if (link === null) throw new Error('The server printed no link.')
  const { pathname, origin } = new URL(link)
  const redeemed = await anyone.send('POST', pathname, { headers: { origin, 'sec-fetch-site': 'same-origin' } })
  const cookie = cookieOf(redeemed)
  if (cookie === '') throw new Error(`The link does not sign in: ${redeemed.status} ${redeemed.text.slice(0, 200)}`)
  return cookie
}

export const signInCases: readonly AttackCase[] = [
  {
    name: 'google-tokens-that-say-too-little',
    tries: 'Tokens of Google that were not made for this server, or not for people of the company, let somebody in.',
    run: async (scene) => {
      const { me } = await googleServer(scene)
      const good = await me({ email: 'ann@corp.example', hd: 'corp.example' })
      if (good.status !== 200) throw new Error(`Nobody can sign in: ${good.status} ${good.text.slice(0, 300)}`)
      const letIn: string[] = []
      for (const [what, claims] of Object.entries(FORGED)) if ((await me(claims)).status < 400) letIn.push(what)
      return judged(letIn.length > 0, letIn.length === 0 ? 'all are refused' : `let in: ${letIn.join(', ')}`)
    },
  },
  {
    name: 'guesses-lock-others-out',
    tries: 'Wrong guesses from one address have good credentials refused that were not used before.',
    alone: true,
    run: async (scene) => {
      const { b, anyone, server } = scene
      const lease = await leased(scene, 'leased')
      const fresh = await b.as('viewer')
      const guesses = await guessed(scene)
      const token = await fresh.get('/api/v1/me')
      const { taskId, attempt, token: credential } = lease
      const ended = await anyone.post('/task-complete', { taskId, attempt, token: credential, status: 'succeeded' })
      const link = await signedIn(scene, server.link).then(
        () => 'lets in',
        () => 'does not let in',
      )
      const isLockedOut = token.status !== 200 || ended.status !== 200 || link !== 'lets in'
      const seen = `guesses ${statusesOf(guesses)}; then a token gets ${token.status}, a lease ${ended.status}, the link ${link}`
      return judged(isLockedOut, seen)
    },
  },
  {
    name: 'session-that-nobody-can-end',
    tries: 'Somebody has the cookie of a session, and no admin can find or end it.',
    alone: true,
    run: async (scene) => {
      const { anyone, admin, server } = scene
      const cookie = await signedIn(scene, server.link)
      const me = (): Promise<Answer> => anyone.get('/api/v1/me', { headers: { cookie } })
      const before = await me()
      const listed = await admin.get<{ readonly items?: readonly { readonly id: string }[] }>('/api/v1/sessions')
      if (listed.status !== 200) return succeeded(`sessions can't be listed: ${listed.status}`)
      for (const { id } of listed.body.items ?? [])
        await admin.send('DELETE', `/api/v1/sessions/${encodeURIComponent(id)}`)
      const after = await me()
      return judged(after.status === 200, `before ${before.status}, after it was ended ${after.status}`)
    },
  },
  {
    name: 'session-of-a-link-after-the-move-to-an-issuer',
    tries: 'A session of the first link goes on as an admin after an issuer was configured.',
    run: async (scene) => {
      const store = `sqlite:${scene.folder()}.db`
      const before = await scene.another({ store })
      const cookie = await signedIn({ anyone: before.admin.as(null) }, before.link)
      const first = await before.admin.as(null).get('/api/v1/me', { headers: { cookie } })
      await before.stop()
      const after = await scene.another({
        store,
        settings: {
          oidc: { issuer: 'http://127.0.0.1:9', client_id: 'reprise' },
          access: [{ role: 'viewer', domain: 'corp.example' }],
        },
      })
      const second = await after.admin.as(null).get('/api/v1/me', { headers: { cookie } })
      if (first.status !== 200) throw new Error(`The session does not count even before: ${first.status}`)
      return judged(second.status === 200, `then ${first.status}, now ${second.status}`)
    },
  },
  {
    name: 'development-user-from-afar',
    tries: 'The header for development lets somebody in who comes from another host, by way of a proxy.',
    run: async (scene) => {
      const server = await scene.another({
        env: { ENV: 'local' },
        settings: { trusted_proxies: ['127.0.0.1'] },
      })
      const ask = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
        server.admin.as(null).get('/api/v1/me', { headers: { 'x-dev-user': 'eve', ...headers } })
      const near = await ask({})
      const far = await ask({ 'x-forwarded-for': '203.0.113.9' })
      return judged(far.status === 200, `from afar ${far.status}, from here ${near.status}`)
    },
  },
]

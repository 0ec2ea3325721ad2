// A server that lets people in by Google, with an issuer of our own in Google's place: the command line can't be told where
// Google's keys are, so this one is put together from the package.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { startOidcIssuer } from '@reprise/test-servers'
import { type Answer, Api } from './api.ts'
import type { GoogleOrder } from './google-process.ts'
import type { Scene } from './scene.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface GoogleServer {
  /** What a person with such a token is told about who they are. */
  readonly me: (claims: Claims) => Promise<Answer>
}

const GOOGLE = 'https://accounts.google.com'

export async function googleServer({ later, folder }: Pick<Scene, 'later' | 'folder'>): Promise<GoogleServer> {
  const issuer = await startOidcIssuer({ alg: 'RS256' })
  later(() => issuer.close())
  const child = fork(new URL('./google-process.ts', import.meta.url))
  later(() => child.kill())
  const order: GoogleOrder = { file: `${folder()}.db`, clientId: issuer.clientId, jwksUrl: issuer.jwksUrl }
  child.send(order)
  const [url] = (await once(child, 'message')) as [string]
  const anyone = new Api(url, null)
  later(() => anyone.close())
  return {
    me: async (claims) => {
      const token = await issuer.sign(issuer.claims({ iss: GOOGLE, ...claims }))
      return anyone.as(token).get('/api/v1/me')
    },
  }
}

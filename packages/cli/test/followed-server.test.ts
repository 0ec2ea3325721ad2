// A server of this machine that starts again: for a moment its old token has ended, and word of the new one is not there yet.

import { systemClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { FollowedServer } from '../src/followed-server.ts'
import { writeLocalServer } from '../src/local-server.ts'
import { shell } from './shell.ts'

const OLD = { url: 'http://127.0.0.1:7440', token: 'old' }
const NEW = { url: 'http://127.0.0.1:7441', token: 'new' }

/** `pauses` of the one that waits go by before the server leaves word; it never does if that is null. */
async function following(pauses: number | null) {
  const data = shell().folder
  await writeLocalServer(data, OLD)
  const said: string[] = []
  let waited = 0
  const after: typeof systemClock.after = (_, call) => {
    const step = ++waited === pauses ? writeLocalServer(data, NEW) : Promise.resolve()
    void step.then(call)
    return { cancel: () => undefined }
  }
  const told = { say: (text: string) => void said.push(text), clock: { ...systemClock, after } }
  const followed = new FollowedServer(data, OLD, told)
  const sent: string[] = []
  const send = followed.through(async (url, init) => {
    const authorization = new Headers(init.headers).get('authorization')
    sent.push(`${init.method} ${url} ${authorization}`)
    return new Response(null, { status: authorization === 'Bearer new' ? 200 : 401 })
  })
  const ask = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${await followed.token()}` }
    return (await send(`${OLD.url}/api/v1/me`, { method: 'POST', headers })).status
  }
  return { ask, sent, said }
}

test('a request that is refused in between waits for word of the new server, and goes there', async () => {
  const { ask, sent, said } = await following(3)
  expect(await ask()).toBe(200)
  expect(sent).toEqual([
    'POST http://127.0.0.1:7440/api/v1/me Bearer old',
    'POST http://127.0.0.1:7441/api/v1/me Bearer new',
  ])
  expect(said).toEqual(['The server was started again, at http://127.0.0.1:7441. Going on with its new token.'])
})

test('a token that nobody replaces is refused, once', async () => {
  const { ask, sent } = await following(null)
  expect(await ask()).toBe(401)
  expect(sent).toHaveLength(1)
})

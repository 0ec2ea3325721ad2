// What a thread that vouches for a worker knows of the server: the token that was used last, and nothing that hides a mistake.

import { createWorker } from '@reprise/worker'
import { expect, test } from 'vitest'
import { standInFor } from '../src/store/remote-voucher.ts'

const noted = (data: unknown): string => {
  const { token } = data as { readonly token: SharedArrayBuffer }
  const [length = 0] = new Int32Array(token, 0, 1)
  return Buffer.from(new Uint8Array(token, 4, length)).toString('latin1')
}

test('each token that is used is noted for the thread; one that is too long leaves none', async () => {
  const tokens = ['first', 'second', 'x'.repeat(10_001)]
  const { voucher, options } = standInFor({ url: 'http://127.0.0.1:1/', token: () => tokens.shift() ?? '' })
  const next = options.token as () => Promise<string>
  expect([await next(), noted(voucher?.data)]).toEqual(['first', 'first'])
  expect([await next(), noted(voucher?.data)]).toEqual(['second', 'second'])
  await next()
  expect(noted(voucher?.data)).toBe('')
})

test('an address that is none is refused in words', async () => {
  await expect(createWorker({ url: 5 as never, token: 'x', actions: [] })).rejects.toMatchObject({
    code: 'REPRISE_INVALID',
  })
})

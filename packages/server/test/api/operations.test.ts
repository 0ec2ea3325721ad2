// What operators name in paths: a name that nothing can have is refused before the store is asked.

import { expect, test } from 'vitest'
import { SQLITE, startApi } from './fixture.ts'

test('intruder 9: NUL and control characters in the name of a breaker are 400', async () => {
  const api = await startApi(SQLITE)
  for (const name of ['%00', 'dependency:%00', 'a%0Ab', '%1B[2J', '%C2%85']) {
    const answer = await api.post(`/api/v1/breakers/${name}/reset`, {})
    expect([name, answer.status, answer.body]).toEqual([
      name,
      400,
      expect.objectContaining({ code: 'REPRISE_INVALID' }),
    ])
  }
  const none = await api.post('/api/v1/breakers/dependency%3Astripe/reset', {})
  expect([none.status, none.body]).toEqual([200, { changed: false }])
})

// Which contrast of a cause is named first.

import { expect, test } from 'vitest'
import { tellingFirst } from '../src/pages/failures/signs.ts'

test('what every dead letter has, all its attempts, is named last', () => {
  const ranked = ['attempt', 'version', 'label.region'].map((feature) => ({ feature }))
  expect(tellingFirst(ranked).map(({ feature }) => feature)).toEqual(['version', 'label.region', 'attempt'])
})

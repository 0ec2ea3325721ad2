// Templates of one's own: facts fill texts, and do nothing else to them.

import { expect, test } from 'vitest'
import { filled } from '../../src/channels/messages.ts'

test('a fact changes no shape, is no template itself, and may be unknown', () => {
  const template = { text: '{{ says }}: {{nothing}}!', list: ['{{says}}', 1, null], '{{says}}': true }
  expect(filled(template, { says: '"}, {{rule}} $& {{says}}', rule: 'r' })).toEqual({
    text: '"}, {{rule}} $& {{says}}: !',
    list: ['"}, {{rule}} $& {{says}}', 1, null],
    '{{says}}': true,
  })
})

test('a template that names a long fact many times makes no message without end', () => {
  const template = Array.from({ length: 10_000 }, () => '{{context}}')
  expect(JSON.stringify(filled(template, { context: 'x'.repeat(50_000) })).length).toBeLessThan(1_100_000)
})

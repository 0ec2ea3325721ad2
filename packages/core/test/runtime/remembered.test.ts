import { expect, test, vi } from 'vitest'
import { remembered } from '../../src/runtime/remembered.ts'

function counting() {
  const judge = vi.fn<(text: string) => string | null>((text) => (text === 'nothing' ? null : text.toUpperCase()))
  return { judge, ask: remembered(judge, { textsMax: 3, lengthMax: 10 }) }
}

test('a text is judged once, also one about which there is nothing to say', () => {
  const { judge, ask } = counting()
  expect([ask('one'), ask('one'), ask('nothing'), ask('nothing')]).toEqual(['ONE', 'ONE', null, null])
  expect(judge).toHaveBeenCalledTimes(2)
})

test('a long text is not kept', () => {
  const { judge, ask } = counting()
  ask('a long text')
  ask('a long text')
  expect(judge).toHaveBeenCalledTimes(2)
})

test('beyond its bound it forgets all, and answers rightly as before', () => {
  const { judge, ask } = counting()
  const texts = ['a', 'b', 'c', 'd']
  expect(texts.map(ask)).toEqual(['A', 'B', 'C', 'D'])
  expect(ask('d')).toBe('D')
  expect(judge).toHaveBeenCalledTimes(4)
  expect(ask('a')).toBe('A')
  expect(judge).toHaveBeenCalledTimes(5)
})

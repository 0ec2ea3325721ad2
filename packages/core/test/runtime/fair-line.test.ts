import { expect, test } from 'vitest'
import { FairLine } from '../../src/runtime/fair-line.ts'

test('whoever waits a hundredfold does not keep another waiting; each name keeps its own order', () => {
  const line = new FairLine<string>()
  for (let number = 0; number < 4; number++) line.add('many', `many-${number}`)
  line.add('one', 'one-0')
  line.add('two', 'two-0')
  line.add('two', 'two-1')
  const out: (string | undefined)[] = [line.next(), line.next()]
  line.add('one', 'one-1')
  while (line.size > 0) out.push(line.next())
  expect(out).toEqual(['many-0', 'one-0', 'two-0', 'many-1', 'one-1', 'two-1', 'many-2', 'many-3'])
  expect(line.next()).toBeUndefined()
})

test('a name that may not come now keeps its place', () => {
  const line = new FairLine<string>()
  for (const one of ['a-0', 'b-0', 'a-1', 'c-0']) line.add(one.slice(0, 1), one)
  const notA = (name: string): boolean => name !== 'a'
  expect([line.next(notA), line.next(notA), line.next(notA)]).toEqual(['b-0', 'c-0', undefined])
  expect([line.size, line.next(), line.next()]).toEqual([2, 'a-0', 'a-1'])
})

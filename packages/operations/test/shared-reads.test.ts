import { systemClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { SharedReads } from '../src/shared-reads.ts'

test('questions of one moment share a read, and one that comes after it began has its own', async () => {
  const reads = new SharedReads<number>(systemClock)
  let begun = 0
  const later: Promise<number>[] = []
  const read = async (): Promise<number> => {
    const mine = ++begun
    if (later.length === 0) later.push(reads.read('a', read))
    return mine
  }
  const [one, two, other] = await Promise.all([reads.read('a', read), reads.read('a', read), reads.read('b', read)])
  expect(one).toBe(two)
  expect(other).not.toBe(one)
  expect(await Promise.all(later)).toEqual([3])
  expect(begun).toBe(3)
})

test('a read that fails fails for all who share it, and for nobody after', async () => {
  const reads = new SharedReads<number>(systemClock)
  const failing = () => Promise.reject(new Error('away'))
  const shared = [reads.read('a', failing), reads.read('a', failing)]
  for (const one of shared) await expect(one).rejects.toThrow('away')
  expect(await reads.read('a', async () => 1)).toBe(1)
})

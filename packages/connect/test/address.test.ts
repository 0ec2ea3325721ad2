// Engine addresses: what they mean, and each way in which one is refused.

import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { addressKey, parseAddress } from '../src/address.ts'

test('a file is resolved against the working directory', () => {
  expect(parseAddress('sqlite:./reprise.db')).toEqual({
    scheme: 'sqlite',
    path: resolve('reprise.db'),
    durability: 'durable',
    maxBacklog: null,
  })
  expect(parseAddress('sqlite:/var/lib/reprise.db?durability=fast')).toEqual({
    scheme: 'sqlite',
    path: '/var/lib/reprise.db',
    durability: 'fast',
    maxBacklog: null,
  })
})

test('memory is not a file', () => {
  expect(parseAddress('sqlite::memory:')).toMatchObject({ path: ':memory:' })
})

test('two spellings of one store have one key, two durabilities have two', () => {
  const key = (text: string): string => addressKey(parseAddress(text))
  expect(key('sqlite:./a/../reprise.db')).toBe(key('sqlite:reprise.db?durability=durable'))
  expect(key('sqlite:reprise.db')).not.toBe(key('sqlite:reprise.db?durability=fast'))
})

test('a redis address names servers, and may name a prefix, partitions, a durability and a bound', () => {
  expect(parseAddress('redis://localhost:6379')).toEqual({
    scheme: 'redis',
    urls: ['redis://localhost:6379'],
    prefix: null,
    partitions: null,
    durability: null,
    maxBacklog: null,
  })
  expect(
    parseAddress(
      'rediss://ann:secret@one:6380/2,two:6381?prefix=jobs&partitions=16&durability=durable&max_backlog=500',
    ),
  ).toEqual({
    scheme: 'redis',
    urls: ['rediss://ann:secret@one:6380/2', 'rediss://two:6381'],
    prefix: 'jobs',
    partitions: 16,
    durability: 'durable',
    maxBacklog: 500,
  })
})

test.each([
  ['postgres://user:secret@host/db', "There is no engine 'postgres'. Known are 'sqlite:./reprise.db'"],
  ['./reprise.db', 'The engine address has no scheme'],
  ['sqlite:', 'names no file'],
  ['sqlite:?durability=fast', 'names no file'],
  ['sqlite:a.db?durabilty=fast', "no setting 'durabilty'"],
  ['redis:', 'names no server'],
  ['redis://:secret@', 'names no server'],
  ['redis://one:secret@host,:', 'names no server'],
  ['redis://:one?secret@host', "'@' after its '?'"],
  ['redis://host?partition=4&secret=1', "no setting 'partition'"],
  ['redis://host?partitions=0', "from 1, not '0'"],
  ['sqlite:a.db?max_backlog=0', "a whole number from 1 to 1000000000, not '0'"],
  ['redis://host?max_backlog=1e3', "not '1e3'"],
  ['sqlite:a.db?durability=some', "'durable' or 'fast', not 'some'"],
])('refuses %s', (text, message) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'REPRISE_UNKNOWN_ENGINE' }))
  expect(() => parseAddress(text)).toThrow(message)
  expect(() => parseAddress(text)).not.toThrow('secret')
})

// Every list has one shape, so that one loop reads any of them: its items, and where the next page begins.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { ALL_OPERATIONS } from '../src/table.ts'

/** The fields of each operation's answer, if it is an object. */
const answers = Object.entries(ALL_OPERATIONS).flatMap(([name, { output }]) =>
  output instanceof z.ZodObject ? [{ name, fields: Object.entries<unknown>(output.shape) }] : [],
)

test('every list is { items, next }', () => {
  const lists = answers.filter(({ name, fields }) => {
    const [first, ...others] = fields
    return name.startsWith('list') || (first?.[1] instanceof z.ZodArray && others.length === 0)
  })
  const paged = answers.filter(({ fields }) => fields.some(([field]) => field === 'items'))
  expect(paged.length).toBeGreaterThan(15)
  for (const { name, fields } of new Set([...lists, ...paged])) {
    const missing = ['items', 'next'].filter((wanted) => !fields.some(([field]) => field === wanted))
    expect({ name, missing }).toEqual({ name, missing: [] })
  }
})

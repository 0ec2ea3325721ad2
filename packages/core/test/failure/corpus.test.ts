// How well the fingerprint tells causes apart, on 10,000 labelled lines. Precision: of two messages of one shape, how often do
// they have one cause? Recall: of two messages of one cause, how often do they have one shape?

import { describe, expect, test } from 'vitest'
import { messageShape } from '../../src/failure/message-shape.ts'
import { corpus, type Line, TEMPLATES, UNSEEN_TEMPLATES } from './corpus/index.ts'

const SIZE = 10_000
const SEED = 12

describe('causes and shapes of 10,000 messages', () => {
  test('the corpus is the same each time, and has no line that lacks a value', () => {
    expect(corpus(SIZE, SEED)).toEqual(corpus(SIZE, SEED))
    expect(corpus(SIZE, SEED + 1)).not.toEqual(corpus(SIZE, SEED))
    expect(new Set(TEMPLATES).size).toBe(TEMPLATES.length)
    expect(corpus(SIZE, SEED).filter(({ message }) => /\{\w+\}/.test(message))).toEqual([])
  })

  test('all of it', () => {
    const { precision, recall } = quality('all messages', corpus(SIZE, SEED))
    expect(precision).toBeGreaterThanOrEqual(0.99)
    expect(recall).toBeGreaterThanOrEqual(0.98)
  })

  // At first sight, before any rule was mended for them, they had a precision of 0.925 and a recall of 0.946.
  test('systems that the rules were not made for', () => {
    const { precision, recall } = quality('systems seen later', corpus(SIZE, SEED, UNSEEN_TEMPLATES))
    expect(precision).toBeGreaterThanOrEqual(0.99)
    expect(recall).toBeGreaterThanOrEqual(0.95)
  })
})

/** By pairs of lines, counted from the sizes of the groups. Prints what it finds. */
function quality(title: string, lines: readonly Line[]): { readonly precision: number; readonly recall: number } {
  const shapes = new Map<string, number>()
  const causes = new Map<string, number>()
  const both = new Map<string, number>()
  for (const { message, cause } of lines) {
    const shape = messageShape(message)
    count(shapes, shape)
    count(causes, cause)
    count(both, `${cause}\u0000${shape}`)
  }
  const precision = pairs(both) / pairs(shapes)
  const recall = pairs(both) / pairs(causes)
  process.stdout.write(
    `${title}: ${lines.length} lines, ${causes.size} causes, ${shapes.size} shapes, ` +
      `precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)}\n`,
  )
  return { precision, recall }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function pairs(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0)
}

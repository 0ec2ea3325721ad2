// The arithmetic behind the figures, the payload's size, and the judgement about a target.

import { expect, test } from 'vitest'
import { Figures } from '../src/figures.ts'
import { chanceOf, inputBatches, PAYLOAD_BYTES } from '../src/payload.ts'
import { reportOf } from '../src/report.ts'
import { median, percentile, rounded } from '../src/statistics.ts'
import { isMet, targetsOf } from '../src/targets.ts'

test('the median is the middle one, or lies between the two in the middle', () => {
  expect(median([3])).toBe(3)
  expect(median([9, 1, 5])).toBe(5)
  expect(median([4, 1, 2, 3])).toBe(2.5)
  expect(median([])).toBeNaN()
})

test('a percentile lies between its two nearest samples', () => {
  const samples = Array.from({ length: 101 }, (_, index) => 100 - index)
  expect(percentile(samples, 0)).toBe(0)
  expect(percentile(samples, 50)).toBe(50)
  expect(percentile(samples, 99)).toBe(99)
  expect(percentile(samples, 100)).toBe(100)
  expect(percentile([10, 20], 75)).toBe(17.5)
})

test('figures are rounded to the digits asked for', () => {
  expect(rounded(1.23456, 3)).toBe(1.235)
  expect(rounded(1_234.5, 0)).toBe(1_235)
})

test('every payload is 150 bytes, and no two are alike', () => {
  const texts = [...inputBatches(99_500, 101_000)].flat().map((input) => JSON.stringify(input))
  expect(texts).toHaveLength(1_500)
  expect(new Set(texts).size).toBe(1_500)
  expect(new Set(texts.map((text) => Buffer.byteLength(text)))).toEqual(new Set([PAYLOAD_BYTES]))
})

test('chance is spread evenly, and the same for everybody', () => {
  const drawn = Array.from({ length: 10_000 }, (_, number) => chanceOf(number))
  expect(drawn).toEqual(Array.from({ length: 10_000 }, (_, number) => chanceOf(number)))
  for (const bound of [0.01, 0.11, 0.5, 0.9]) {
    expect(drawn.filter((chance) => chance < bound).length / drawn.length).toBeCloseTo(bound, 1)
  }
})

test('ratios are ours by theirs, from medians; null where one is missing', () => {
  const figures = new Figures()
  for (const rate of [300, 100, 200]) figures.add('ours', 'process', rate)
  figures.add('limit', 'process', 400)
  figures.add('ours', 'memoryMb', 300)
  const report = reportOf('sqlite', 'fast', 10, figures)
  expect(report.ratios).toMatchObject({ limit: 0.5, process: null, backlog: null })
  expect(report.peers).toEqual({})
  expect(targetsOf(report).map((target) => isMet(target))).toEqual([false, false])
})

test('a run in durable is held against the durable target', () => {
  const figures = new Figures()
  figures.add('ours', 'process', 27)
  figures.add('peer', 'process', 10)
  const [target] = targetsOf(reportOf('sqlite', 'durable', 10, figures))
  expect(target).toMatchObject({ value: 2.7, atLeast: 2.5 })
  expect(target !== undefined && isMet(target)).toBe(true)
})

test('what must be small on Redis is held against an upper bound', () => {
  const figures = new Figures()
  figures.add('ours', 'memoryPerTaskBytes', 650)
  figures.add('peer', 'memoryPerTaskBytes', 1_000)
  figures.add('ours', 'latencyAcrossProcessesP99Ms', 2.1)
  figures.add('peer', 'latencyAcrossProcessesP99Ms', 2)
  const report = reportOf('redis', 'fast', 10, figures)
  expect(report.peers).toHaveProperty('bullmq')
  expect(report.ratios).toEqual({
    process: null,
    submit: null,
    memory: 0.65,
    latencyP50: null,
    latencyP99: 1.05,
    lateness: null,
    latenessCluster: null,
    limit: null,
    backlog: null,
    processes: null,
    redrive: null,
    avalanche: null,
  })
  expect(targetsOf(report).map((target) => isMet(target))).toEqual([true, false])
})

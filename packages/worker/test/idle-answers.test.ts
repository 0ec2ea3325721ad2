// Claims that overlap, and the answer of one that must not hide what another one found.

import type { Idle, Mark } from '@reprise/core'
import { expect, test } from 'vitest'
import { IdleAnswers } from '../src/idle-answers.ts'

const idle = (dueAt: number | null, since = 1): Idle => ({ since: since as Mark, dueAt, heldBack: null })

test('a claim by itself says what is so, whatever was said before', () => {
  const answers = new IdleAnswers()
  expect(answers.answered(answers.depart(), idle(50))).toEqual(idle(50))
  expect(answers.answered(answers.depart(), idle(null, 2))).toEqual(idle(null, 2))
  expect(answers.answered(answers.depart(), null)).toBeNull()
  expect(answers.answered(answers.depart(), idle(70))).toEqual(idle(70))
})

test('of two that overlap, "nothing is due" does not hide the time that the other one found, whichever answers first', () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    for (const [first, second] of [
      [idle(50, 1), idle(null, 2)],
      [idle(null, 1), idle(50, 2)],
    ] as const) {
      const answers = new IdleAnswers()
      const departures = [answers.depart(), answers.depart()] as const
      const said = [first, second] as const
      answers.answered(departures[order[0]], said[order[0]])
      // The one that left last has seen what came before its mark.
      expect(answers.answered(departures[order[1]], said[order[1]])).toEqual(idle(50, 2))
    }
  }
})

test('whether something is left to claim, the one that left last knows, whichever answers first', () => {
  const claims = () => {
    const answers = new IdleAnswers()
    return { answers, older: answers.depart(), newer: answers.depart() }
  }
  const one = claims()
  one.answers.answered(one.older, null)
  expect(one.answers.answered(one.newer, idle(50))).toEqual(idle(50))
  const other = claims()
  other.answers.answered(other.newer, null)
  expect(other.answers.answered(other.older, idle(50))).toBeNull()
  expect(other.answers.answered(other.answers.depart(), idle(60))).toEqual(idle(60))
})

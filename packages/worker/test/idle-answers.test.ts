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

test('of two that overlap, "nothing is due" does not hide the time that the other one found, in either order', () => {
  for (const [first, second] of [
    [idle(50, 1), idle(null, 2)],
    [idle(null, 2), idle(50, 1)],
  ] as const) {
    const answers = new IdleAnswers()
    const departures = [answers.depart(), answers.depart()] as const
    answers.answered(departures[0], first)
    expect(answers.answered(departures[1], second)).toEqual(idle(50, 1))
  }
})

test('one that left something behind counts most; the next claim by itself ends that', () => {
  const answers = new IdleAnswers()
  const departures = [answers.depart(), answers.depart()] as const
  answers.answered(departures[0], null)
  expect(answers.answered(departures[1], idle(50))).toBeNull()
  expect(answers.answered(answers.depart(), idle(60))).toEqual(idle(60))
})

// What is done about one launch, for every sighting, at every moment of its lease, by its own process and by others.

import type { Launch, LaunchSighting } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { type Sighted, toLookAt, type Verdict, verdictOn } from '../src/reconcile-one.ts'

const NOW = 1_000_000
const LEASE_MS = 15_000
const running: LaunchSighting = { status: 'running', handle: 'h' }
const ended: LaunchSighting = { status: 'ended', handle: 'h', outcome: { ok: true, result: null } }

const others = { isOwn: false }
const OOM = { code: 'WORKER_OUT_OF_MEMORY', message: 'It was killed.' }

function sighted(sighting: LaunchSighting, over: Partial<Sighted> = {}, launch: Partial<Launch> = {}): Sighted {
  const times = { leaseUntil: NOW + LEASE_MS, timeoutAt: NOW + 300_000, handle: 'h' }
  return { key: 't:1', launch: { ...times, ...launch } as Launch, isOwn: true, isNoted: true, sighting, ...over }
}
const verdict = (one: Sighted, mayTakeAway = true): Verdict['kind'] =>
  verdictOn(one, { now: NOW, leaseMs: LEASE_MS, mayTakeAway }).kind

describe('A11: what a sighting comes to', () => {
  const lapsed = { leaseUntil: NOW }
  test.each<[string, Sighted, Verdict['kind']]>([
    ['ended', sighted(ended), 'settle'],
    ['ended, past its time-out', sighted(ended, {}, { timeoutAt: NOW - 1 }), 'settle'],
    ['running', sighted(running), 'leave'],
    ['running, a third of the lease gone', sighted(running, {}, { leaseUntil: NOW + 9_999 }), 'renew'],
    ['running, not noted', sighted(running, { isNoted: false }), 'renew'],
    ['running, at its time-out', sighted(running, {}, { timeoutAt: NOW }), 'end'],
    [
      'running, its lease at the longest',
      sighted(running, {}, { leaseUntil: NOW + 6_000, timeoutAt: NOW + 1_000 }),
      'leave',
    ],
    ["another's, a third gone", sighted(running, others, { leaseUntil: NOW + 9_999 }), 'leave'],
    ["another's, half gone", sighted(running, others, { leaseUntil: NOW + 7_499 }), 'renew'],
    ['vanished, under its lease', sighted({ status: 'vanished' }, {}, { leaseUntil: NOW + 1 }), 'lost'],
    ["another's, vanished, under its lease", sighted({ status: 'vanished' }, others, { leaseUntil: NOW + 1 }), 'leave'],
    [
      "another's, ended as its platform says",
      sighted({ status: 'vanished', cause: OOM }, others, { leaseUntil: NOW + 1 }),
      'lost',
    ],
    [
      'vanished, no handle, under its lease',
      sighted({ status: 'vanished' }, {}, { handle: null, leaseUntil: NOW + 1 }),
      'leave',
    ],
    ['vanished, its lease ended', sighted({ status: 'vanished' }, {}, lapsed), 'lost'],
    ['never, under its lease', sighted({ status: 'never' }, {}, { leaseUntil: NOW + 1 }), 'leave'],
    ['never, its lease ended', sighted({ status: 'never' }, {}, lapsed), 'release'],
    ['unknown', sighted({ status: 'unknown' }), 'leave'],
    ['unknown, a third gone', sighted({ status: 'unknown' }, {}, { leaseUntil: NOW + 9_999 }), 'renew'],
    ['unknown, at its time-out', sighted({ status: 'unknown' }, {}, { timeoutAt: NOW }), 'end'],
    ["another's, unknown, its lease ended", sighted({ status: 'unknown' }, others, lapsed), 'leave'],
    [
      "another's, unknown, all its time over",
      sighted({ status: 'unknown' }, others, { leaseUntil: NOW, timeoutAt: NOW - 5_000 }),
      'lost',
    ],
  ])('%s', (_, one, kind) => {
    expect(verdict(one)).toBe(kind)
  })

  test('nothing is taken away while others may be about to renew', () => {
    for (const status of ['vanished', 'never'] as const) {
      expect(verdict(sighted({ status }, others, lapsed), false)).toBe('leave')
    }
  })

  test('the handle is noted once', () => {
    const context = { now: NOW, leaseMs: LEASE_MS, mayTakeAway: true }
    expect(verdictOn(sighted(running, { isNoted: false }), context)).toEqual({ kind: 'renew', handle: 'h' })
    const due = sighted(running, {}, { leaseUntil: NOW + 1 })
    expect(verdictOn(due, context)).toEqual({ kind: 'renew', handle: null })
  })
})

describe('what is looked at', () => {
  test.each<[string, Partial<Launch>, boolean, boolean, boolean]>([
    ['own', {}, true, false, true],
    ['own, being launched', {}, true, true, false],
    ['being launched, its lease ended', { leaseUntil: NOW }, true, true, true],
    ["another's", {}, false, false, false],
    ["another's, half of its lease gone", { leaseUntil: NOW + 7_499 }, false, false, true],
    ["another's, half gone, never noted", { leaseUntil: NOW + 1, handle: null }, false, false, false],
    ["another's, never noted, its lease ended", { leaseUntil: NOW, handle: null }, false, false, true],
  ])('%s', (_, launch, isOwn, isLaunching, isWanted) => {
    expect(toLookAt(sighted(running, { isOwn }, launch), { now: NOW, leaseMs: LEASE_MS, isLaunching })).toBe(isWanted)
  })
})

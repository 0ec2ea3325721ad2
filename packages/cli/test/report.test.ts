// The report as people get it: parts are added up, each cause once; and nothing that a failure says is taken for markup.

import { expect, test } from 'vitest'
import { htmlReport, markdownReport, type Report } from '../src/views/report.ts'
import { serverAndStore } from './server-and-store.ts'

const REPORT: Report = {
  from: Date.UTC(2030, 0, 1),
  to: Date.UTC(2030, 0, 8),
  failed: 40,
  parked: 10,
  died: 3,
  recoveredByRetry: 20,
  recoveredByPeople: 2,
  causes: [
    {
      fingerprint: 'f1',
      action: 'charge',
      code: 'HTTP_503',
      message: '<script>alert(1)</script> & "a | b" \\| \u001b[31mred',
      failed: 40,
      parked: 10,
      died: 3,
      recovered: 2,
    },
  ],
  causesLeftOut: 0,
  breakersOpened: [{ name: 'dependency:bank', count: 2 }],
  alertsFired: [],
  runbooks: [{ name: 'replay-after-outage', succeeded: 1, others: 0 }],
  workOrders: { opened: 2, recovered: 1, closed: 1, openMsSum: 180_000, openMsMax: 120_000 },
  operators: 4,
}

test('B16: as Markdown, with its figures, and cells that stay cells', () => {
  const text = markdownReport(REPORT, 1)
  expect(text).toMatch(/^# Report 2030-01-01 to 2030-01-08\n/)
  expect(text).toContain('- Saved by breakers: 10 attempts that were not charged (25%)')
  expect(text).toContain('- Tasks that recovered: 22: 20 by retries, 2 after they had died')
  expect(text).toContain('- Time to recovery: 1m 30s on average, 2m at most')
  expect(text).toContain('## Alerts that fired\n\nNone did.')
  const row = text.split('\n').find((line) => line.startsWith('| f1 |')) ?? ''
  // Eight cells: a sign that is escaped ends none.
  expect(row.replaceAll(/\\./g, '').split('|')).toHaveLength(10)
  expect(row).not.toMatch(/<script/)
  expect(row).not.toContain('\u001b')
})

test('B16: as a page that needs nothing else, and in which nothing of a failure is markup', () => {
  const page = htmlReport(REPORT, 1)
  expect(page).toMatch(/^<!doctype html>/)
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;a | b&quot;')
  expect(page).not.toMatch(/<script|<link|<img|src=|href=|url\(/)
  expect(page).not.toContain('\u001b')
  expect(page).toContain("default-src 'none'")
  expect(page).toContain('<td class="n">40</td>')
})

test('B16: parts of a long period are added up', async () => {
  const here = await serverAndStore()
  for (let batch = 0; batch < 24; batch++) {
    await here.engine.journal.append(
      Array.from({ length: 500 }, (_, at) => ({
        type: 'execution.failed' as const,
        taskId: null,
        attempt: null,
        actor: 'worker:w',
        reason: 'again',
        data: { fingerprint: `f${at % 3}`, decision: 'retry', message: 'down', action: 'charge', code: 'E' },
      })),
    )
  }
  const { stdout } = await here.over('http', 'report', '-o', 'json')
  const report = JSON.parse(stdout) as Report
  expect(report.failed).toBe(12_000)
  expect(report.causes.map(({ failed }) => failed)).toEqual([4_008, 4_008, 3_984])
})

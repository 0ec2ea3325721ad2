// The report of a period for people: the same facts and tables as Markdown, and as one page of HTML that needs nothing else. Texts of
// failures come from anywhere: nothing in them ends a cell, or is taken for markup.

import type { OperationOutput } from '@reprise/client'
import { formatDuration } from '@reprise/core'
import { plain } from '../output/plain-text.ts'
import { isoTime, percent } from '../output/times.ts'

export type Report = Omit<OperationOutput<'getReport'>, 'next'>

const CAUSES_SHOWN = 20

interface Section {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  /** Instead of a table without rows. */
  readonly none: string
}

interface Page {
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly sections: readonly Section[]
}

export function markdownReport(report: Report, open: number): string {
  const { title, facts, sections } = pageOf(report, open)
  const tables = sections.flatMap(({ title: name, head, rows, none }) => [
    '',
    `## ${name}`,
    '',
    ...(rows.length === 0
      ? [none]
      : [
          `| ${head.join(' | ')} |`,
          `|${head.map(() => '---').join('|')}|`,
          ...rows.map((row) => `| ${row.map(markdownCell).join(' | ')} |`),
        ]),
  ])
  return [`# ${title}`, '', ...facts.map(([name, value]) => `- ${name}: ${value}`), ...tables, ''].join('\n')
}

export function htmlReport(report: Report, open: number): string {
  const { title, facts, sections } = pageOf(report, open)
  const cells = (row: readonly (string | number)[], tag: 'td' | 'th'): string =>
    row
      .map((value) => `<${tag}${typeof value === 'number' ? ' class="n"' : ''}>${escaped(String(value))}</${tag}>`)
      .join('')
  const tables = sections.flatMap(({ title: name, head, rows, none }) => [
    `<h2>${escaped(name)}</h2>`,
    ...(rows.length === 0
      ? [`<p>${escaped(none)}</p>`]
      : [
          `<table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>`,
          ...rows.map((row) => `<tr>${cells(row, 'td')}</tr>`),
          '</tbody></table>',
        ]),
  ])
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    // Whatever else stands in it, nothing is loaded or run.
    `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    `<dl>${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>`,
    ...tables,
    '</body></html>',
    '',
  ].join('\n')
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2024}' +
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.5rem}dt{color:#60646c}dd{margin:0}' +
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d9d9e0;overflow-wrap:anywhere}' +
  '.n{text-align:right;font-variant-numeric:tabular-nums}'

function pageOf(report: Report, open: number): Page {
  const { from, to, failed, parked, died, recoveredByRetry, recoveredByPeople, workOrders, causes } = report
  const closed = workOrders.recovered + workOrders.closed
  const recovered = recoveredByRetry + recoveredByPeople
  const more = causes.length - CAUSES_SHOWN + report.causesLeftOut
  return {
    title: `Report ${isoTime(from).slice(0, 10)} to ${isoTime(to).slice(0, 10)}`,
    facts: [
      ['Period', `${isoTime(from)} to ${isoTime(to)}`],
      ['Failed attempts', `${failed}`],
      [
        'Saved by breakers',
        `${parked} attempts that were not charged (${percent(failed === 0 ? null : parked / failed)})`,
      ],
      ['Tasks that died', `${died}`],
      [
        'Tasks that recovered',
        `${recovered}: ${recoveredByRetry} by retries, ${recoveredByPeople} after they had died`,
      ],
      [
        'Work orders',
        `${workOrders.opened} opened, ${workOrders.recovered} closed by recovery, ${workOrders.closed} closed otherwise, ${open} open now`,
      ],
      [
        'Time to recovery',
        closed === 0
          ? 'no work order was closed'
          : `${span(workOrders.openMsSum / closed)} on average, ${span(workOrders.openMsMax)} at most`,
      ],
      ['What operators did', `${report.operators} changes and notes`],
    ],
    sections: [
      {
        title: `Noisiest causes${more > 0 ? ` (${more} more are left out)` : ''}`,
        head: ['cause', 'action', 'code', 'failed', 'saved', 'died', 'recovered', 'what it says'],
        rows: causes
          .slice(0, CAUSES_SHOWN)
          .map((one) => [
            one.fingerprint,
            one.action,
            one.code,
            one.failed,
            one.parked,
            one.died,
            one.recovered,
            one.message,
          ]),
        none: 'Nothing failed.',
      },
      {
        title: 'Breakers that opened',
        head: ['breaker', 'times'],
        rows: report.breakersOpened.map(({ name, count }) => [name, count]),
        none: 'None did.',
      },
      {
        title: 'Alerts that fired',
        head: ['rule', 'times'],
        rows: report.alertsFired.map(({ name, count }) => [name, count]),
        none: 'None did.',
      },
      {
        title: 'Runbooks',
        head: ['runbook', 'succeeded', 'ended otherwise'],
        rows: report.runbooks.map(({ name, succeeded, others }) => [name, succeeded, others]),
        none: 'None was run.',
      },
    ],
  }
}

const span = (ms: number): string => formatDuration(Math.round(ms / 1_000) * 1_000)

const markdownCell = (value: string | number): string =>
  plain(String(value)).replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => plain(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

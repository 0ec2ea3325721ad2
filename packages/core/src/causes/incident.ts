// The timeline of an incident as people read it: on a screen, at a terminal, and as Markdown for the post-mortem. How the lines come
// out of the journal is in operations' incidents.ts.

import { escapeUnseen } from '../model/escape-unseen.ts'

export interface IncidentLine {
  readonly at: number
  /** The last of those that are counted together. */
  readonly until: number
  readonly kind: string
  readonly count: number
  readonly dead: number
  readonly actor: string
  readonly subject: string | null
  readonly text: string
}

const MINUTE_MS = 60_000
const COUNTED: ReadonlySet<string> = new Set(['failures', 'recoveries', 'deploy'])

/** Parts of one minute that two pages had, and workers of one version that joined together, are one line. */
export function joinedIncident<Line extends IncidentLine>(lines: readonly Line[]): readonly Line[] {
  const known = new Map<string, number>()
  const result: Line[] = []
  for (const line of lines) {
    const isCounted = COUNTED.has(line.kind)
    const key = `${line.kind} ${line.subject} ${Math.floor(line.at / MINUTE_MS)}`
    const place = isCounted ? known.get(key) : undefined
    const before = place === undefined ? undefined : result[place]
    if (place === undefined || before === undefined) {
      if (isCounted) known.set(key, result.length)
      result.push(line)
    } else {
      result[place] = { ...before, count: before.count + line.count, dead: before.dead + line.dead, until: line.until }
    }
  }
  return result
}

/** One line in words. */
export function incidentText({ kind, text, count, dead, actor }: IncidentLine): string {
  if (kind === 'failures') return `${count} failed${dead === 0 ? '' : `, ${dead} died`}: ${text}`
  if (kind === 'recoveries') return `${count} recovered: ${text.replace(/: recovered$/, '')}`
  if (kind === 'deploy') return count === 1 ? text : `${count} workers joined: ${text}`
  return `${text} (${actor})`
}

/** What every post-mortem begins with. */
interface IncidentFigures {
  readonly firstFailureAt: number | null
  readonly lastFailureAt: number | null
  readonly failed: number
  readonly died: number
  readonly recovered: number
  readonly causes: number
  /** Of workers that joined. */
  readonly versions: readonly string[]
}

export function incidentFigures(lines: readonly IncidentLine[]): IncidentFigures {
  const of = (kind: string): readonly IncidentLine[] => lines.filter((line) => line.kind === kind)
  const failures = of('failures')
  return {
    firstFailureAt: failures[0]?.at ?? null,
    lastFailureAt: failures.reduce<number | null>((last, { until }) => Math.max(last ?? until, until), null),
    failed: failures.reduce((sum, { count }) => sum + count, 0),
    died: failures.reduce((sum, { dead }) => sum + dead, 0),
    recovered: of('recoveries').reduce((sum, { count }) => sum + count, 0),
    causes: new Set(failures.map(({ subject }) => subject)).size,
    versions: [...new Set(of('deploy').map(({ subject }) => subject ?? '?'))],
  }
}

const iso = (at: number | null): string => (at === null ? 'none' : new Date(at).toISOString())

/** One table, after the figures. */
export function incidentMarkdown(lines: readonly IncidentLine[]): string {
  const { firstFailureAt, lastFailureAt, failed, died, recovered, causes, versions } = incidentFigures(lines)
  return [
    '# Incident',
    '',
    `- First failure: ${iso(firstFailureAt)}`,
    `- Last failure: ${iso(lastFailureAt)}`,
    `- Failed attempts: ${failed}, tasks that died: ${died}, tasks that recovered: ${recovered}`,
    `- Causes: ${causes}`,
    `- Versions of workers that joined: ${versions.length === 0 ? 'none' : cell(versions.join(', '))}`,
    '',
    '## Timeline',
    '',
    '| when | what | |',
    '|---|---|---|',
    ...lines.map((line) => `| ${iso(line.at)} | ${line.kind} | ${cell(incidentText(line))} |`),
    '',
  ].join('\n')
}

/** Nothing in it ends a cell, or is taken for HTML. */
const cell = (text: string): string =>
  escapeUnseen(text).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')

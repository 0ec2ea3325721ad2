// docs/configuration.md and docs/cli.md say what the tables in the sources say: every setting, command, option and exit code.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/commands/all.ts'
import { inspectConfiguration } from '../src/configuration/resolve.ts'
import type { Setting } from '../src/configuration/setting.ts'
import { SETTING_NAMES, SETTINGS } from '../src/configuration/settings.ts'
import { EXIT } from '../src/output/exit-codes.ts'
import { shell } from './shell.ts'

const page = (name: string): string => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8')

/** The line of a setting in the tables of docs/configuration.md. */
function row({ key, variables, flag, default: usual, defaultText, kind, about }: Setting<unknown>): string {
  const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  const shown = kind.show(usual)
  const value = defaultText ?? (shown === '' || shown === '[]' || shown === '{}' ? 'none' : `\`${shown}\``)
  const names = [key === null ? '–' : `\`${key}\``, quoted(variables), flag === null ? '–' : `\`${flag}\``]
  return `| ${names.join(' | ')} | ${value} | ${about} ${kind.form === 'text' ? '' : `(${kind.form})`} |`.replaceAll(
    '  ',
    ' ',
  )
}

describe('docs/configuration.md', () => {
  const text = page('configuration.md')
  test.each(SETTING_NAMES)('has the row of %s', (name) => {
    expect(text).toContain(`${row(SETTINGS[name] as Setting<unknown>)}\n`)
  })

  test('has an example that is valid', async () => {
    const [, example = ''] = /```yaml\n# reprise\.yaml\n(.*?)```/s.exec(text) ?? []
    const { folder } = shell({ files: { 'reprise.yaml': example } })
    const { problems, origins } = await inspectConfiguration({ flags: {}, env: {}, cwd: folder })
    expect(problems).toEqual([])
    expect(Object.values(origins).filter(({ kind }) => kind === 'file').length).toBeGreaterThan(10)
  })
})

describe('docs/cli.md', () => {
  const text = page('cli.md')
  test.each(COMMANDS.map(({ path, summary }) => [path.join(' '), summary] as const))('has %s', (name, summary) => {
    expect(text).toContain(`\`reprise ${name}`)
    expect(text).toContain(summary)
  })

  test.each(Object.entries(EXIT))('has the exit code of %s', (_, code) => {
    expect(text).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'))
  })
})

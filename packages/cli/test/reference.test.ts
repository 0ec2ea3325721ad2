// docs/cli-reference.md is written from the definitions of commands. If this fails, look at the difference, and run it with
// --update to write the page anew.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandDefinition, GROUPS, type OptionDefinition } from '../src/command/definition.ts'
import { ownOptions, SHARED_OPTIONS } from '../src/command/program.ts'
import { COMMANDS } from '../src/commands/all.ts'

const PAGE = join(import.meta.dirname, '../../../docs/cli-reference.md')
const INTRODUCTION = `# Every command and its options

Written from the definitions in packages/cli/src/commands. [cli.md](cli.md) says what all of them have in common, and what the exit codes mean. These options every command has: ${SHARED_OPTIONS.map(({ flags }) => `\`${flags}\``).join(', ')}.`

function entry(command: CommandDefinition): string {
  const { path, details, summary, examples, ...rest } = command
  const words = (rest.arguments ?? []).map(({ name }) => ` ${name}`).join('')
  const rows = [
    ...(rest.arguments ?? []).map(({ name, about }) => row(name, about)),
    ...ownOptions(command).map(({ flags, about, choices }) => row(flags, withChoices(about, choices))),
  ]
  return [
    `### reprise ${path.join(' ')}${words}`.replaceAll('<', '\\<').replaceAll('[', '\\['),
    wrapped(details ?? `${summary}.`),
    ...(rows.length === 0 ? [] : [`| | |\n|---|---|\n${rows.join('\n')}`]),
    `\`\`\`sh\n${examples.map(([command, says]) => `${command}   # ${says}`).join('\n')}\n\`\`\``,
  ].join('\n\n')
}

const wrapped = (text: string): string => text.replace(/(?=.{121})(.{1,120}) /g, '$1\n')
const row = (words: string, about: string): string => `| \`${words}\` | ${about.replaceAll('|', '\\|')} |`
const withChoices = (about: string, choices: OptionDefinition['choices']): string =>
  choices === undefined ? about : `${about} (${choices.join(', ')})`

test('docs/cli-reference.md says what the definitions say', async () => {
  const groups = GROUPS.map((group) =>
    [`## ${group}`, ...COMMANDS.filter((one) => one.group === group).map(entry)].join('\n\n'),
  )
  await expect(`${[wrapped(INTRODUCTION), ...groups].join('\n\n')}\n`).toMatchFileSnapshot(PAGE)
})

// Every command there is: help with an example, and an answer to what it does not understand. New commands are walked as well.

import { describe, expect, test } from 'vitest'
import { COMMANDS, FAMILIES } from '../src/commands/all.ts'
import { shell } from './shell.ts'

const commands = COMMANDS.map((definition) => [definition.path.join(' '), definition] as const)

describe.each(commands)('reprise %s', (name, definition) => {
  const { path } = definition

  test('has help with a description and an example that begins with itself', async () => {
    const { exitCode, stdout, stderr } = await shell().reprise(...path, '--help')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: reprise ${name}`)
    expect(stdout).toContain('Examples:')
    for (const [command, says] of definition.examples) {
      expect(command).toContain(`reprise ${name}`)
      expect(stdout).toContain(command)
      expect(stdout).toContain(says)
    }
    expect(definition.summary).toMatch(/^[A-Z].*[^.]$/)
  })

  test('answers an unknown option, and an argument too many, with usage and 2', async () => {
    const needed = (definition.arguments ?? []).filter(({ name: argument }) => argument.startsWith('<')).map(() => 'x')
    const takesMore = definition.arguments?.some(({ name: argument }) => argument.includes('...')) === true
    const mistakes = [['--no-such-option'], ...(takesMore ? [] : [['one', 'two', 'three', 'four']])]
    for (const mistake of mistakes) {
      const { exitCode, stdout, stderr } = await shell().reprise(...path, ...needed, ...mistake)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^error: /)
      expect(stderr).toContain(`usage: reprise ${name}`)
    }
  })
})

describe('reprise', () => {
  test('alone shows its help, under headings', async () => {
    const { exitCode, stdout } = await shell().reprise()
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/Start:.*Policies:.*Set up:/s)
  })

  test.each([
    [['confg'], 'Did you mean config?'],
    [['config', 'chek'], 'Did you mean check?'],
    [['doctor', '--prot', '1'], 'Did you mean --port?'],
    [['version', '-o', 'xml'], 'Allowed choices are table, json, jsonl'],
    [['worker'], "missing required argument 'module'"],
  ])('%j is answered with what may be meant', async (argv, hint) => {
    const { exitCode, stdout, stderr } = await shell().reprise(...argv)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(hint)
  })

  const withDefault = new Set(COMMANDS.filter(({ isDefault }) => isDefault).map(({ path }) => path[0]))
  const silent = FAMILIES.map(({ name }) => name).filter((name) => !withDefault.has(name))

  test.each(silent)('%s alone says what it can do, with 2', async (name) => {
    const { exitCode, stderr } = await shell().reprise(name)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`Usage: reprise ${name}`)
  })

  test('takes the options of every command before and after its name', async () => {
    const { reprise } = shell()
    for (const argv of [
      ['-o', 'json', 'version'],
      ['version', '-o', 'json'],
    ]) {
      expect(JSON.parse((await reprise(...argv)).stdout)).toHaveProperty('version')
    }
  })
})

describe('reprise completion', () => {
  test.each(['bash', 'zsh', 'fish'])('knows every command and its options in %s', async (name) => {
    const { exitCode, stdout } = await shell().reprise('completion', name)
    expect(exitCode).toBe(0)
    for (const { path } of COMMANDS) for (const word of path) expect(stdout).toContain(word)
    expect(stdout).toContain('health-port')
  })

  test('does not know others', async () => {
    expect(await shell().reprise('completion', 'tcsh')).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

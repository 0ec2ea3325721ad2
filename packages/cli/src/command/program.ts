// From definitions to a parser: commands, options, help and usage errors, on commander. It knows no single command.

import { Command, Option } from 'commander'
import type { Given } from '../configuration/resolve.ts'
import type { Setting } from '../configuration/setting.ts'
import { flagName, SETTING_NAMES, SETTINGS, type SettingName } from '../configuration/settings.ts'
import { FORMATS, type Sink } from '../output/output.ts'
import { type CommandDefinition, type FamilyDefinition, GROUPS, type OptionDefinition } from './definition.ts'
import { attribute } from './options.ts'

/** What was asked for, once the words are understood. */
export interface Request {
  readonly definition: CommandDefinition
  readonly arguments: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
}

export interface ProgramOptions {
  readonly commands: readonly CommandDefinition[]
  readonly families: readonly FamilyDefinition[]
  readonly version: string
  readonly stdout: Sink
  readonly stderr: Sink
  readonly onRequest: (request: Request) => void
}

/** Settings that every command takes as flags. */
const SHARED_SETTINGS: readonly SettingName[] = ['url', 'token', 'engine', 'data']

export const SHARED_OPTIONS: readonly OptionDefinition[] = [
  { flags: '-o, --output <format>', about: 'The format of the output; table if not given', choices: FORMATS },
  { flags: '--json', about: 'The same as -o json' },
  ...SHARED_SETTINGS.map(settingOption),
  { flags: '--config <file>', about: 'The configuration file; reprise.yaml if it is there' },
  { flags: '-q, --quiet', about: 'Print the result only, no notes' },
  { flags: '--no-color', about: 'No colours, as with NO_COLOR' },
]

const EVERY_COMMAND = `Every command also takes ${SHARED_OPTIONS.map(shortFlag).join(', ')}: see 'reprise --help'.`

function shortFlag({ flags }: OptionDefinition): string {
  return flags.split(/[ ,]/, 1)[0] ?? flags
}

function settingOption(name: SettingName): OptionDefinition {
  const setting: Setting<never> = SETTINGS[name] as Setting<never>
  return { flags: setting.flag ?? `--${name}`, about: `${setting.about.replace(/\.$/, '')}${defaultOf(setting)}` }
}

/** Nothing for a setting that is nothing unless somebody gives it. */
function defaultOf({ default: value, defaultText, kind }: Setting<never>): string {
  const shown = defaultText ?? kind.show(value)
  return ['', '[]', '{}'].includes(shown) ? '' : ` (default ${shown})`
}

/**
 * The options of a command alone. What every command has is not among them, also if it names it; and a setting that means
 * something else to it than to others it tells of itself.
 */
export function ownOptions({ options = [], settings = [] }: CommandDefinition): readonly OptionDefinition[] {
  const told = new Set(options.map(({ flags }) => flags))
  const others = settings.filter((name) => !SHARED_SETTINGS.includes(name)).map(settingOption)
  return [...options, ...others.filter(({ flags }) => !told.has(flags))]
}

export function buildProgram(options: ProgramOptions): Command {
  const program = new Command('reprise')
    .description('Runs background tasks to their end, whatever fails on the way.')
    .version(options.version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void options.stdout.write(text),
      writeErr: (text) => void options.stderr.write(text),
      getOutHelpWidth: () => options.stdout.columns ?? 100,
      getErrHelpWidth: () => options.stderr.columns ?? 100,
    })
    // At 80 columns the longest command leaves 39 for its words; without this such lines are not broken at all.
    .configureHelp({ minWidthToWrap: 30 })
  addOptions(program, SHARED_OPTIONS)
  program.commandsGroup('Set up:')
  program.addHelpText('after', "\nEvery command has its own help: 'reprise submit --help'. All of it: docs/cli.md.")

  const families = new Map<string, Command>()
  // Help shows headings in the order in which they first come up.
  for (const group of GROUPS) {
    for (const { name, summary } of options.families.filter((family) => family.group === group)) {
      const family = program.command(name).description(summary).helpGroup(`${group}:`)
      families.set(name, family)
    }
    for (const definition of options.commands.filter((command) => command.group === group)) {
      addCommand(program, families, definition, options)
    }
  }
  // Now that they know their commands.
  for (const family of [program, ...families.values()]) explainUsage(family)
  return program
}

function addCommand(
  program: Command,
  families: ReadonlyMap<string, Command>,
  definition: CommandDefinition,
  options: ProgramOptions,
): void {
  const [first, second] = definition.path
  const parent = second === undefined ? program : families.get(first)
  if (parent === undefined) throw new TypeError(`There is no family '${first}' for ${definition.path.join(' ')}.`)
  const isDefault = definition.isDefault ?? false
  const command = parent.command(second ?? first, { isDefault }).summary(definition.summary)
  command.description(definition.details ?? `${definition.summary}.`)
  if (second === undefined) command.helpGroup(`${definition.group}:`)
  for (const { name, about } of definition.arguments ?? []) command.argument(name, about)
  addOptions(command, ownOptions(definition))
  command.addHelpText('after', `\n${examplesText(definition)}\n\n${EVERY_COMMAND}`)
  explainUsage(command)
  command.action((...given: unknown[]) => {
    const values = command.optsWithGlobals<Record<string, unknown>>()
    // Commander hands over the arguments, then the options, then itself.
    const texts = given
      .slice(0, -2)
      .flat()
      .filter((item): item is string => typeof item === 'string')
    options.onRequest({ definition, arguments: texts, values })
  })
}

function addOptions(command: Command, options: readonly OptionDefinition[]): void {
  for (const { flags, about, choices, repeatable } of options) {
    const option = new Option(flags, about)
    if (choices !== undefined) option.choices(choices)
    if (repeatable === true) {
      option.argParser<readonly string[]>((value, before) => [...(before ?? []), value])
    }
    command.addOption(option)
  }
}

function examplesText({ examples }: CommandDefinition): string {
  return ['Examples:', ...examples.flatMap(([command, says]) => [`  # ${says}`, `  $ ${command}`])].join('\n')
}

/** A mistake is answered with how it is meant, not with pages of help. */
function explainUsage(command: Command): void {
  const path = commandPath(command)
  command.showHelpAfterError(`usage: ${path} ${command.usage()}\nTry '${path} --help'.`)
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`
}

/** The flags that are settings, by setting. */
export function settingFlags({ definition, values }: Request): Given['flags'] {
  const usable = new Set<SettingName>([...SHARED_SETTINGS, ...(definition.settings ?? [])])
  const flags: Partial<Record<SettingName | 'config', string>> = {}
  for (const name of SETTING_NAMES) {
    const flag = flagName(name)
    const value = flag === null || !usable.has(name) ? undefined : values[attribute(flag)]
    if (typeof value === 'string') flags[name] = value
  }
  if (typeof values.config === 'string') flags.config = values.config
  return flags
}

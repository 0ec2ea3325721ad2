// reprise config print: every setting, its value and where that came from. Secrets and passwords are not shown.

import type { CommandDefinition } from '../command/definition.ts'
import { withoutCloudEnvironment } from '../configuration/cloud-pools.ts'
import type { Resolved } from '../configuration/resolve.ts'
import type { Setting } from '../configuration/setting.ts'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../configuration/settings.ts'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import type { LaunchPoolSettings } from '../configuration/structures.ts'

export const configPrint: CommandDefinition = {
  path: ['config', 'print'],
  group: 'Set up',
  summary: 'Show every setting, its value and where it came from',
  details:
    'Shows every setting, its value and where that came from: a flag, the environment, the configuration file, or the default. Secrets are shown as [redacted].',
  settings: ['data', 'host', 'port', 'policies', 'packs'],
  options: [{ flags: '--set', about: 'Only what is not at its default' }],
  examples: [
    ['reprise config print', 'Why does it listen there?'],
    ['reprise config print --set -o json', 'What was set, for a program'],
  ],
  async run(invocation) {
    const resolved = await invocation.configuration()
    const names = SETTING_NAMES.filter(
      (name) => !invocation.options.flag('set') || resolved.origins[name].kind !== 'default',
    )
    const lines = names.map((name) => ({
      setting: name,
      key: SETTINGS[name].key,
      variable: SETTINGS[name].variables[0] ?? null,
      value: shownValue(resolved, name),
      origin: resolved.origins[name].text,
    }))
    invocation.output.list(
      lines,
      [
        { title: 'SETTING', value: ({ key, variable, setting }) => key ?? variable ?? setting },
        { title: 'VALUE', value: ({ setting }) => shownText(resolved, setting), flexible: true },
        { title: 'FROM', value: ({ origin }) => origin, style: (text) => (text === 'default' ? 'dim' : null) },
      ],
      'Nothing is set: everything is at its default.',
    )
  },
}

const REDACTED = '[redacted]'

function shownValue(resolved: Resolved, name: SettingName): unknown {
  const { secret } = SETTINGS[name] as Setting<unknown>
  if (name === 'engine') return shownAddress(storeAddress(resolved))
  if (name === 'launchPools') return resolved.values.launchPools.map(withoutEnvironment)
  const value = resolved.values[name]
  return secret === true && value !== null ? REDACTED : value
}

/** What commands get in their environment is often a secret; its names are enough to see what is set. */
function withoutEnvironment(pool: LaunchPoolSettings): LaunchPoolSettings {
  if (pool.kind === 'http') return pool
  if (pool.kind !== 'process') return withoutCloudEnvironment(pool, REDACTED)
  const commands = Object.entries(pool.commands).map(([action, command]) => {
    const names = Object.keys(command.env ?? {})
    const env = names.length === 0 ? {} : { env: Object.fromEntries(names.map((key) => [key, REDACTED])) }
    return [action, { ...command, ...env }] as const
  })
  return { ...pool, commands: Object.fromEntries(commands) }
}

function shownText(resolved: Resolved, name: SettingName): string {
  const { kind, defaultText } = SETTINGS[name] as Setting<unknown>
  const value = shownValue(resolved, name)
  const isNothing = value === null || (Array.isArray(value) && value.length === 0)
  if (isNothing && defaultText !== undefined && name !== 'policies') return `(${defaultText})`
  return value === REDACTED || name === 'engine' ? String(value) : kind.show(value)
}

// What a store has kept under the old name of a setting (docs/adr/0026) is read under the new one, so that it goes on working.

import { BOUNDS, BOUNDS_IN_YAML } from './renamed.ts'

const wordsOf = (names: object): string => Object.keys(names).join('|')
const OLD_FIELD = new RegExp(`"(${wordsOf(BOUNDS)})":`, 'g')
const OLD_WORD = new RegExp(`\\b(${wordsOf(BOUNDS_IN_YAML)})(?=["']?\\s*:)`, 'g')

/** Settings of a task or a breaker, from the JSON that a store has of them. */
export function parseSettings<Settings>(json: string, reviver?: Parameters<typeof JSON.parse>[1]): Settings {
  const text = json.replaceAll(OLD_FIELD, (_, name: keyof typeof BOUNDS) => `"${BOUNDS[name]}":`)
  return JSON.parse(text, reviver) as Settings
}

/** The same of a document, whose JSON the store has parsed. */
export const currentSettings = <Settings extends object>(stored: Settings): Settings =>
  'lossesMax' in stored ? parseSettings(JSON.stringify(stored)) : stored

/** Policies as the store has kept them, in the words of today. Lines and columns stay. */
export const currentPolicies = (yaml: string): string =>
  yaml.replaceAll(OLD_WORD, (name) => BOUNDS_IN_YAML[name as keyof typeof BOUNDS_IN_YAML])

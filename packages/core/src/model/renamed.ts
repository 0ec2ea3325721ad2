// Names of settings that were changed, once, before the first release (docs/adr/0026). Nobody can use an old one: who writes
// it is told the new one. What a store has kept under an old one is read under the new one, so that it goes on working.

const BOUNDS = {
  lossesMax: 'maxLosses',
  failuresMin: 'minFailures',
  openMsMax: 'maxOpenMs',
  rampMax: 'maxRamp',
} as const

const BOUNDS_IN_YAML = {
  losses_max: 'max_losses',
  failures_min: 'min_failures',
  open_max: 'max_open',
  ramp_max: 'max_ramp',
} as const

const RENAMED: Readonly<Record<string, string>> = {
  ...BOUNDS,
  ...BOUNDS_IN_YAML,
  openMax: 'maxOpen',
  backlogMax: 'maxBacklog',
  bodyBytesMax: 'maxBodyBytes',
  launchFailuresMax: 'maxLaunchFailures',
  slotsMin: 'minSlots',
  slotsMax: 'maxSlots',
  outcomesMin: 'minOutcomes',
  degradedClaimMax: 'maxDegradedClaim',
  quietMsMax: 'maxQuietMs',
  maxRetries: 'retry: { max }',
  backoff: 'retry: { backoff }',
  retryUnknown: 'retry: { unknown }',
  dependsOn: 'uses',
  depends_on: 'uses',
}

/** ' It is called …' if the word is the old name of something, and that is known here; empty if not. */
export function newNameOf(word: string, known?: readonly string[]): string {
  const name = Object.hasOwn(RENAMED, word) ? RENAMED[word] : undefined
  if (name === undefined || known?.includes(name.split(':')[0] ?? '') === false) return ''
  return ` It is called '${name}'.`
}

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

// Names of settings that were changed, once, before the first release (docs/adr/0026). Nobody can use an old name: an error says
// the new one. What stores have kept under old names is the subject of stored-names.ts.

export const BOUNDS = {
  lossesMax: 'maxLosses',
  failuresMin: 'minFailures',
  openMsMax: 'maxOpenMs',
  rampMax: 'maxRamp',
} as const

export const BOUNDS_IN_YAML = {
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

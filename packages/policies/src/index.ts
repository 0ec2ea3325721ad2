// Retry policies and packs of actions as files: read and checked, versioned in the store, followed, and tried out.

export { ConfigurationError, type Problem, problemText } from './configuration-error.ts'
export { policyNotes } from './notes.ts'
export { openPolicies, type Policies, type PoliciesOptions } from './open-policies.ts'
export { loadPacks } from './pack-files.ts'
export {
  type DeclaredAction,
  type Entrypoint,
  type Pack,
  parsePack,
  RUNTIMES,
  type Runtime,
} from './packs.ts'
export { parsePolicies } from './policy-file.ts'
export type { PolicyVersion } from './policy-versions.ts'
export {
  causeOf,
  Evidence,
  type Judges,
  type RecordedAttempt,
  type RecordedTask,
  type Replayed,
  replay,
} from './replay.ts'
export {
  type SimulatedAttempt,
  type SimulatedFailure,
  type Simulation,
  type SimulationResult,
  simulate,
} from './simulate.ts'
export { TEMPLATE_NAMES, TEMPLATES, type TemplateName } from './templates.ts'
export { parseYaml, readFileText, readYaml, type YamlFile } from './yaml-file.ts'

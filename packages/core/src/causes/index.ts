// The door of this room: attempts as features, contrasts between them, and the difference of two.

export { type AttemptDifference, differencesOf } from './attempt-diff.ts'
export {
  CONTRAST_SAMPLE_MIN,
  type Contrast,
  type ContrastTest,
  contrastsOf,
  pacedContrasts,
} from './contrast.ts'
export { type AttemptFacts, type Features, featuresOf, unitOf } from './features.ts'

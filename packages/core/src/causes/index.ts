// The door of this room: attempts as features, contrasts between them, the difference of two, and incidents in words.

export { type AttemptDifference, differencesOf } from './attempt-diff.ts'
export {
  CONTRAST_SAMPLE_MIN,
  type Contrast,
  type ContrastTest,
  contrastsOf,
  pacedContrasts,
} from './contrast.ts'
export { type AttemptFacts, type Features, featuresOf, unitOf } from './features.ts'
export {
  type IncidentLine,
  incidentFigures,
  incidentMarkdown,
  incidentText,
  joinedIncident,
} from './incident.ts'

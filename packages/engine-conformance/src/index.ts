// The front door: one suite for every engine, the plain model that they are held against, and the comparison of the two.

export type { EngineFactory, EngineOptions } from './factory.ts'
export { createModel } from './model/model.ts'
export {
  type CompareOptions,
  type ComparisonReport,
  compareWithModel,
  exerciseAgainstModel,
  faultText,
} from './model-based.ts'
export { type ExerciseOptions, exerciseEngine, SUBJECT_NAMES } from './suite/exercise.ts'
export { declaredLacks } from './suite/subject.ts'
export { type WholeInspection, wholeInspection } from './whole-inspection.ts'

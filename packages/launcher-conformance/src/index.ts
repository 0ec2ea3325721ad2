// The front door: one suite for every launcher, and how the suite gets hold of a launcher and of what it launches.

export { exerciseLauncher } from './exercise.ts'
export type { LauncherFactory, LauncherLack, LauncherStage, StagedTrouble, StagedWorker } from './factory.ts'

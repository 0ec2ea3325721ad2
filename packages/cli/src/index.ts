/**
 * The command line of Reprise, as a function, and its configuration. What people type is bin/reprise.mjs.
 */

export {
  type ConfigurationProblem,
  type Given,
  type Inspected,
  inspectConfiguration,
  type Origin,
  type Resolved,
  resolveConfiguration,
} from './configuration/resolve.ts'
export type { Setting } from './configuration/setting.ts'
export { type Configuration, SETTINGS, type SettingName } from './configuration/settings.ts'
export { storeAddress } from './configuration/store-address.ts'
export type { Host } from './host.ts'
export { EXIT, type ExitCode } from './output/exit-codes.ts'
export { run } from './run.ts'

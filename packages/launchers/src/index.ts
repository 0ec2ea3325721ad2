// Launchers: start an ephemeral worker for one execution, and tell later what became of it. They know no store.

export { createHttpLauncher, type HttpLauncher } from './http/launcher.ts'
export type { HttpLauncherOptions } from './http/options.ts'
export { type ReceivedHeaders, type VerifyOptions, verifySignature } from './http/signature.ts'
export { createProcessLauncher, type ProcessLauncher } from './process/launcher.ts'
export type { ProcessCommand, ProcessLauncherOptions } from './process/options.ts'

// Launchers: start an ephemeral worker for one execution, and tell later what became of it. They know no store. What an HTTP
// launcher is careful with, others that call addresses from outside have to be careful with too: those parts are here as well.

export { createCloudRunLauncher } from './cloud-run/launcher.ts'
export type { CloudRunJob, CloudRunLauncherOptions } from './cloud-run/options.ts'
export { createEcsLauncher } from './ecs/launcher.ts'
export type { EcsCapacityProvider, EcsLauncherOptions, EcsTask } from './ecs/options.ts'
export { AddressPolicy, parseAddress, type Resolve } from './http/addresses.ts'
export { retryAfterMs } from './http/answer.ts'
export { createHttpLauncher, type HttpLauncher } from './http/launcher.ts'
export type { HttpLauncherOptions, HttpTarget } from './http/options.ts'
export { type HttpAnswer, HttpCallError, HttpCaller } from './http/request.ts'
export {
  type ReceivedHeaders,
  type ReceivedRequest,
  SIGNATURE_VERSIONS,
  type SignatureVersion,
  secretKey,
  sign,
  type VerifyOptions,
  verifyRequest,
  verifySignature,
} from './http/signature.ts'
export { createKubernetesLauncher } from './kubernetes/launcher.ts'
export type { KubernetesJob, KubernetesLauncherOptions } from './kubernetes/options.ts'
export { createLambdaLauncher, type LambdaLauncher } from './lambda/launcher.ts'
export type { LambdaFunction, LambdaLauncherOptions } from './lambda/options.ts'
export { createProcessLauncher, type ProcessLauncher } from './process/launcher.ts'
export type { ProcessCommand, ProcessLauncherOptions } from './process/options.ts'

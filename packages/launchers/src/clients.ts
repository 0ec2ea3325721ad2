// The calls of Lambda and Cloud Run that our launchers are built on, for others who call these services too: no launcher and no task
// comes along. The packages behind them are loaded at the first call.

export {
  type CloudRunClient,
  type CloudRunCondition,
  CloudRunError,
  type CloudRunExecution,
  type CloudRunOptions,
  type CloudRunOverrides,
  type CloudRunPage,
  type CloudRunTask,
  openCloudRun,
} from './cloud-run/client.ts'
export {
  type LambdaAnswer,
  type LambdaClient,
  type LambdaInvocation,
  type LambdaLimits,
  type LambdaOptions,
  openLambda,
} from './lambda/client.ts'

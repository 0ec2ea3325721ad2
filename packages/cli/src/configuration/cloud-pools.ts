// Launch pools on cloud platforms, as the configuration file has them: the options of their launchers, in the file's spelling. What
// they mean is in docs/launchers.md; credentials come by the usual chains of the platforms and never stand here.

import { actionName } from '@reprise/core'
import {
  checked,
  duration,
  fields,
  flag,
  isMap,
  list,
  mustBe,
  oneOf,
  optional,
  text,
  whole,
} from '@reprise/policies/fields'
import { z } from 'zod'
import { textsOf, webAddress } from './kinds.ts'

const byAction = <Item extends z.ZodType>(item: Item) =>
  z
    .record(z.string(), item, { error: ({ input }) => mustBe('a map, by action', input) })
    .superRefine((map, context) => {
      for (const action of Object.keys(map)) checked(context, [action], () => actionName(action))
    })

const map = (item: z.ZodType<string>) =>
  z.record(z.string(), item, { error: ({ input }) => mustBe('a map of texts', input) })
const env = map(text(100_000))
const name = text(1_000)

/** Of each of them. */
const WATCHING = { call_within: duration(1), callback_url: webAddress.schema }
const PLATFORM = { ...WATCHING, look_every: duration(), visible_within: duration() }

const ecsTask = {
  task_definition: name,
  container: name,
  command: textsOf(),
  env,
  cpu: whole(1, 1_000_000),
  memory: whole(1, 10_000_000),
}

const capacityProvider = fields('a capacity provider', {
  name,
  ...optional({ weight: whole(0, 1_000), base: whole(0, 100_000) }),
})

const ecsPool = fields('an ECS launcher', {
  cluster: name,
  ...optional({
    ...PLATFORM,
    ...ecsTask,
    actions: byAction(fields('an ECS task', optional(ecsTask))),
    launch_type: oneOf(['FARGATE', 'EC2', 'EXTERNAL']),
    capacity_providers: list(20, capacityProvider),
    platform_version: name,
    subnets: textsOf(),
    security_groups: textsOf(),
    assign_public_ip: flag(),
    tags: map(text(256)),
    region: name,
    endpoint: webAddress.schema,
  }),
}).transform(({ callbackUrl = null, ...options }) => ({ kind: 'ecs' as const, callbackUrl, options }))

const lambdaFunction = { function_name: name, qualifier: name }

const lambdaPool = fields(
  'a Lambda launcher',
  optional({
    ...WATCHING,
    ...lambdaFunction,
    actions: byAction(fields('a function', optional(lambdaFunction))),
    invocation: oneOf(['event', 'request']),
    answer_within: duration(),
    region: name,
    endpoint: webAddress.schema,
  }),
).transform(({ callbackUrl = null, ...options }) => ({ kind: 'lambda' as const, callbackUrl, options }))

const cloudRunJob = { job: name, container: name, args: textsOf(), env }

const cloudRunPool = fields(
  'a Cloud Run launcher',
  optional({
    ...PLATFORM,
    ...cloudRunJob,
    actions: byAction(fields('a Cloud Run job', optional(cloudRunJob))),
    endpoint: webAddress.schema,
  }),
).transform(({ callbackUrl = null, ...options }) => ({ kind: 'cloud_run' as const, callbackUrl, options }))

const kubernetesJob = {
  image: name,
  command: textsOf(),
  args: textsOf(),
  env,
  service_account: name,
  cpu: name,
  memory: name,
  pod_template: z.custom<Readonly<Record<string, unknown>>>(isMap, {
    error: ({ input }) => mustBe('a pod template, a map with metadata and spec', input),
  }),
}

const kubernetesPool = fields(
  'a Kubernetes launcher',
  optional({
    ...PLATFORM,
    ...kubernetesJob,
    actions: byAction(fields('a job', optional(kubernetesJob))),
    namespace: name,
    keep_for: duration(1_000),
    kubeconfig: name,
    context: name,
  }),
).transform(({ callbackUrl = null, ...options }) => ({ kind: 'kubernetes' as const, callbackUrl, options }))

/** By the name that they have in the file. */
export const cloudPools = { ecs: ecsPool, lambda: lambdaPool, cloud_run: cloudRunPool, kubernetes: kubernetesPool }

export type CloudPool = Readonly<
  | z.output<typeof ecsPool>
  | z.output<typeof lambdaPool>
  | z.output<typeof cloudRunPool>
  | z.output<typeof kubernetesPool>
>

/** The same with the variables' names only: what workers get in their environment is often a secret. */
export function withoutCloudEnvironment<Pool extends CloudPool>(pool: Pool, hidden: string): Pool {
  return { ...pool, options: hiddenEnv(pool.options, hidden) }
}

function hiddenEnv<Options extends object>(options: Options, hidden: string): Options {
  const { env: own, actions } = options as {
    readonly env?: Readonly<Record<string, string>>
    readonly actions?: Readonly<Record<string, object>>
  }
  const names = own === undefined ? {} : { env: Object.fromEntries(Object.keys(own).map((key) => [key, hidden])) }
  const targets =
    actions === undefined
      ? {}
      : { actions: Object.fromEntries(Object.entries(actions).map(([key, one]) => [key, hiddenEnv(one, hidden)])) }
  return { ...options, ...names, ...targets }
}

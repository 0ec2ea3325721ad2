/**
 * Real servers for our own tests and the benchmark: Redis alone, Redis as a cluster, a proxy that breaks the
 * connections to it, an OpenID Connect issuer, a pager, and fakes of cloud services. Each is started here, on a port and in a
 * folder of its own; a server that was already running is never touched. Not published, and of no use in production.
 */

export { type FakeCloudRun, startFakeCloudRun } from './cloud/cloud-run.ts'
export { type FakeEcs, startFakeEcs } from './cloud/ecs.ts'
export { type FakeKubernetes, startFakeKubernetes } from './cloud/kubernetes.ts'
export { type FakeLambda, type FakeLambdaOptions, startFakeLambda } from './cloud/lambda.ts'
export type { CloudCall, CloudServer, CloudTrouble } from './cloud/server.ts'
export { type FakeTicket, type FakeTickets, startFakeTickets } from './cloud/tickets.ts'
export type { FakeEnd, FakeWorker } from './cloud/workers.ts'
export { type RedisCluster, startCluster } from './cluster.ts'
export {
  type Claims,
  type IssuerTrouble,
  type OidcIssuer,
  type OidcIssuerOptions,
  type SignOptions,
  startOidcIssuer,
} from './oidc-issuer.ts'
export { type FakePager, type Page, startFakePager } from './pager.ts'
export { type SwallowedDirection, startProxy, type TcpProxy } from './proxy.ts'
export { type RedisOptions, type RedisServer, startRedis } from './redis.ts'
export type { RedisReply } from './resp.ts'

/**
 * The engine of Reprise on Redis or Valkey, for many workers on many hosts. What an engine does is said in
 * docs/engine-port.md; how this one lays out its keys in docs/redis-layout.md.
 */

export { openRedisEngine, type RedisEngineOptions } from './engine.ts'
export { otherStores } from './other-stores.ts'

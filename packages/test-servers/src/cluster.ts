// A Redis cluster of masters on this machine, each with its share of the slots. Each node is an ordinary server: it can
// be killed, paused and started again by itself.

import { setTimeout as sleep } from 'node:timers/promises'
import { fieldsOf } from './command.ts'
import { type RedisServer, startRedis } from './redis.ts'

const slots = 16_384
const nodeTimeoutMs = 1_000
const formLimitMs = 20_000
const pollMs = 20

export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** Takes two seconds: for so long a new master refuses writes, whatever it knows. */
export async function startCluster(size = 3): Promise<RedisCluster> {
  const extra = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)]
  const started = await Promise.allSettled(Array.from({ length: size }, () => startRedis({ extra })))
  const nodes = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    for (const result of started) if (result.status === 'rejected') throw result.reason
    await form(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, urls: nodes.map((node) => node.url), stop }
}

async function form(nodes: readonly RedisServer[]): Promise<void> {
  const share = (index: number) => Math.floor((slots * index) / nodes.length)
  await Promise.all(
    nodes.map(async (node, index) => {
      // Epochs that differ from the start need no vote later on.
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
      await node.command('CLUSTER', 'ADDSLOTSRANGE', String(share(index)), String(share(index + 1) - 1))
    }),
  )
  for (const [index, node] of nodes.entries()) {
    for (const other of nodes.slice(index + 1)) await node.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port))
  }

  const limit = performance.now() + formLimitMs
  for (const node of nodes) {
    while (!(await knowsAll(node, nodes.length))) {
      if (performance.now() > limit) {
        throw new Error(`The cluster did not form within ${formLimitMs / 1000} s:\n${await nodeTable(node)}`)
      }
      await sleep(pollMs)
    }
  }
}

async function knowsAll(node: RedisServer, size: number): Promise<boolean> {
  const info = fieldsOf(await node.command('CLUSTER', 'INFO'))
  if (info.get('cluster_state') !== 'ok' || info.get('cluster_known_nodes') !== String(size)) return false
  const lines = (await nodeTable(node)).trimEnd().split('\n')
  return lines.every((line) => line.includes(' connected') && !line.includes('handshake'))
}

async function nodeTable(node: RedisServer): Promise<string> {
  return String(await node.command('CLUSTER', 'NODES'))
}

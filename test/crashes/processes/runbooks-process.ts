// A process that moves runs of runbooks, and ends itself by SIGKILL at one point of one step. Arguments: the address of the engine,
// the folder of scripts, and where to end, such as `acted:post`; `never` to go on. With a fourth argument, the signal in place of
// SIGKILL: `SIGSTOP` to stand still there.

import { connectEngine } from '@reprise/connect'
import { openFlags } from '@reprise/core'
import { createContext, createRunbookHands } from '@reprise/operations'
import { createRedrives, createRunbooks } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'

const [address, scripts, end, signal = 'SIGKILL'] = process.argv.slice(2)
if (address === undefined || scripts === undefined)
  throw new Error('Usage: runbooks-process.ts <engine> <scripts> <where>')

const { engine } = await connectEngine(address)
const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
const context = createContext({ engine, policies, flags, maxRetries: 1, version: 'test' })
const hands = createRunbookHands({ context, allow: ['127.0.0.0/8'], scripts })
await createRedrives({ engine, intervalMs: 50, leaseMs: 500 }).start()
await createRunbooks({
  engine,
  hands,
  intervalMs: 50,
  leaseMs: 500,
  at: (point, step) => {
    if (`${point}:${step}` === end) process.kill(process.pid, signal)
  },
}).start()
// Nobody would ever stop it.
process.once('disconnect', () => process.exit())

// The facts that the Redis engine's Lua takes from TypeScript: every constant of core, and how the engine lays things out.

import * as core from '@reprise/core'
import * as engine from '@reprise/core/engine'
import * as layout from '../packages/engine-redis/src/layout.ts'
import { type Fact, isFact, type LuaFacts } from './lua-facts.ts'

/** What a module exports under a name in capitals. */
const constantsOf = (module: object): [string, Fact][] =>
  Object.entries(module).flatMap(([name, value]: [string, unknown]) => {
    const fact = value instanceof Set ? Object.fromEntries([...value].map((item) => [String(item), true])) : value
    return /^[A-Z][A-Z0-9_]+$/.test(name) && isFact(fact) ? [[name, fact]] : []
  })

const isRecord = (fact: Fact): fact is readonly string[] => Array.isArray(fact)

const laidOut = constantsOf(layout)

export const REDIS_FACTS: LuaFacts = {
  constants: Object.fromEntries([
    ...constantsOf(core),
    ...constantsOf(engine),
    ...laidOut.filter(([, fact]) => !isRecord(fact)),
  ]),
  records: Object.fromEntries(laidOut.flatMap(([name, fact]) => (isRecord(fact) ? [[name, fact]] : []))),
}

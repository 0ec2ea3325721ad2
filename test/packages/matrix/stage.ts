// What the cases of the matrix share: the tools, projects with the packed packages in them, and a Redis server.

import type { Project } from '../project.ts'
import type { Tool, ToolName } from './tools.ts'

export interface Stage {
  /** Client, worker and SQLite, each a package of its own, and no other engine. */
  readonly parts: Project
  /** The one package to start with, which has the command and so both engines. */
  readonly whole: Project
  /** The client without any engine. */
  readonly client: Project
  /** Null where there is no server of Redis. */
  readonly redisUrl: string | null
  readonly tool: (name: ToolName) => Tool
  /** Runs a tool in a project. */
  readonly run: (
    project: Project,
    name: ToolName,
    args: readonly string[],
    environment?: NodeJS.ProcessEnv,
  ) => Promise<string>
}

export interface Case {
  readonly name: string
  readonly needs: readonly (ToolName | 'Redis')[]
  readonly run: (stage: Stage) => Promise<void>
}

/** Something that a case needs and this machine has not. */
export class NotAvailable extends Error {}

export function expectText(actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`Printed was\n${actual}\ninstead of\n${expected}`)
}

// `npm run test:packages`: packs the packages, installs the tarballs with npm as a user would, and tries compilers, bundlers
// and runtimes on them. What is not available here is said and counted. Exit code 1 if anything failed.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import { createProject, type Project } from '../project.ts'
import { tarballProblems } from '../tarball-problems.ts'
import { closureOf, packAll, type Tarballs } from '../tarballs.ts'
import { bundleCases } from './bundles.ts'
import { runtimeCases } from './runtimes.ts'
import { type Case, NotAvailable, type Stage } from './stage.ts'
import { installTool, npmInstall, TOOL_NAMES, type Tool, type ToolName } from './tools.ts'
import { typeCases } from './types.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const [only = ''] = process.argv.slice(2)

async function main(): Promise<void> {
  using resources = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'reprise-matrix-'))
  resources.defer(() => rmSync(folder, { recursive: true, force: true }))

  const tarballs = await packAll(folder)
  const projectWith = async (...names: string[]): Promise<Project> => {
    const project = resources.use(createProject({ type: 'module' }))
    await npmInstall(project.folder, ['@types/node@24', ...closureOf(tarballs, names).map(({ path }) => path)])
    return project
  }
  const parts = await projectWith('@reprise/client', '@reprise/worker', '@reprise/engine-sqlite')
  const whole = await projectWith('reprise')
  const client = await projectWith('@reprise/client')

  const cases = [tarballCase(tarballs), ...typeCases, ...bundleCases, ...runtimeCases].filter(({ name }) =>
    name.includes(only),
  )
  const tools = new Map<ToolName, Tool>()
  for (const name of TOOL_NAMES.filter((tool) => cases.some(({ needs }) => needs.includes(tool)))) {
    const tool = await installTool(name, folder)
    if (tool !== null) tools.set(name, tool)
    say(tool === null ? `${name} is not available here.` : `${name}: ${tool.version}`)
  }
  const redis = await startRedis().catch((error: unknown) => {
    say(`Redis is not available here: ${String(error)}`)
  })
  const stage: Stage = {
    parts,
    whole,
    client,
    redisUrl: redis?.url ?? null,
    tool: (name) => tools.get(name) ?? unavailable(name),
    run(project, name, args, environment) {
      const [command, ...first] = stage.tool(name).command
      return project.run(command, [...first, ...args], environment)
    },
  }
  const counts = { passed: 0, failed: 0, skipped: 0 }
  try {
    for (const one of cases) counts[await tryCase(one, stage)]++
  } finally {
    await redis?.stop()
  }
  say(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  if (counts.failed > 0) process.exitCode = 1
}

async function tryCase({ name, needs, run }: Case, stage: Stage): Promise<'passed' | 'failed' | 'skipped'> {
  const startedAt = performance.now()
  try {
    for (const need of needs) {
      if (need !== 'Redis') stage.tool(need)
      else if (stage.redisUrl === null) unavailable(need)
    }
    await run(stage)
    say(`passed   ${name}  ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    return 'passed'
  } catch (error) {
    if (error instanceof NotAvailable) {
      say(`skipped  ${name}: ${error.message} is not available here`)
      return 'skipped'
    }
    say(`FAILED   ${name}\n${error instanceof Error ? error.message : String(error)}`)
    return 'failed'
  }
}

const tarballCase = (tarballs: Tarballs): Case => ({
  name: 'the tarballs hold what they should',
  needs: [],
  async run() {
    const problems = [...tarballs.values()].flatMap(tarballProblems)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  },
})

function unavailable(name: string): never {
  throw new NotAvailable(name)
}

await main()

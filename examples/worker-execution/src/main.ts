// What `npm run example:worker-execution` runs: tasks come by SQS, each runs in an ECS task of its own, one fails and is retried by
// an operator, one container vanishes and is found, one message comes twice. The last line says what was shown.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectEngine } from '@reprise/connect'
import { type Clouds, openClouds } from './clouds.ts'
import { show } from './story.ts'

const USAGE = `Usage: npm run example:worker-execution -- [options]

  --engine ADDRESS   the store, such as redis://localhost:6379 (a SQLite file of its own, removed at the end)
  --help             show this

Fakes of SQS and ECS on this machine are the default. With these variables it runs on AWS, with the usual credentials:
  IMPLEMENTATION_SQS_QUEUE_URL   a queue, with a dead-letter queue
  ECS_CLUSTER, ECS_TASK_DEFINITION, ECS_CONTAINER   whose image runs src/container.ts
  ECS_SUBNETS, ECS_SECURITY_GROUPS                  with commas between them, for Fargate
  PUBLIC_URL                                        where the containers reach this process
`

async function run(): Promise<number> {
  const { values } = parseArgs({ options: { engine: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-worker-execution-'))
  const address = values.engine ?? `sqlite:${join(folder, 'reprise.db')}`
  let clouds: Clouds | undefined
  const connection = await connectEngine(address)
  try {
    clouds = await openClouds(process.env)
    const tell = (line: string): void => void process.stdout.write(`${line}\n`)
    await show(connection.engine, clouds, tell, process.env.PUBLIC_URL)
    return 0
  } finally {
    await clouds?.close()
    await connection.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

process.exitCode = await run()

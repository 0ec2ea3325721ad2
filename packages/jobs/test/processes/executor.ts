// A program that runs chunks as processes: each writes to the pipe named by the first argument, and keeps it open while it lives.
// With a second argument the program handles SIGINT itself, by ending the job.

import { createProcessAdapter, JobExecutor } from '../../src/index.ts'

const [pipe = '', handles] = process.argv.slice(2)
const stop = new AbortController()
if (handles !== undefined) process.once('SIGINT', () => stop.abort())
const command = () => ({ argv: ['/bin/sh', '-c', `exec 3>"${pipe}"; echo up >&3; sleep 60`] })
const chunks = [{ id: 'a' }, { id: 'b' }]
const executor = new JobExecutor(createProcessAdapter({ command }))
await executor.execute({ chunks }, { concurrency: 2, signal: stop.signal }).catch(() => process.exit(3))

// The adapter for processes, with real ones.

import { execFileSync, spawn } from 'node:child_process'
import { once as eventOf } from 'node:events'
import { closeSync, constants, createReadStream, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Chunk, createProcessAdapter, JobExecutor } from '../src/index.ts'

const shell = (script: string) => ({ argv: ['/bin/sh', '-c', script] })
const once = (chunk: Chunk<string>) => ({ chunk, attempt: 1, signal: new AbortController().signal })
/** An orphan that was killed stays as a zombie until the init process asks for it. */
const isGone = (pid: number): boolean => {
  try {
    return /^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

describe('E5: the local process adapter', () => {
  const adapter = createProcessAdapter<string>({ command: ({ input = '' }) => ({ ...shell(input), stdin: 'frame 7' }) })

  test('gives exit code and output, and the process its chunk', async () => {
    const script = 'read line; echo "$line of $REPRISE_CHUNK_ID, $REPRISE_CHUNK_ATTEMPT"; echo bad >&2; exit 3'
    const outcome = await adapter.execute({ ...once({ id: 'c7', input: script }), attempt: 2 })
    expect(outcome).toEqual({ exitCode: 3, stdout: 'frame 7 of c7, 2', stderr: 'bad' })
  })

  test('a process that a signal ended has failed', async () => {
    expect((await adapter.execute(once({ id: 'a', input: 'kill -9 $$' }))).exitCode).toBe(137)
  })

  test('a program that is not there is a thrown error', async () => {
    const missing = createProcessAdapter({ command: () => ({ argv: ['/no/such/program'] }) })
    await expect(missing.execute(once({ id: 'a' }))).rejects.toThrow('ENOENT')
  })

  test('of long output the end is kept', async () => {
    const short = createProcessAdapter<string>({ command: ({ input = '' }) => shell(input), maxOutputBytes: 10 })
    const { stdout } = await short.execute(once({ id: 'a', input: 'yes x | head -n 100000; echo the end' }))
    expect(stdout).toBe('x\nthe end')
  })

  test('a stop ends the process and what it started', async () => {
    const stop = new AbortController()
    const stubborn = createProcessAdapter<string>({ command: ({ input = '' }) => shell(input), killGrace: '50ms' })
    const script = 'trap "" TERM; sleep 60 & echo $!; kill -USR1 $PPID; wait; sleep 60'
    const ready = new Promise((resolve) => process.once('SIGUSR1', resolve))
    const done = stubborn.execute({ ...once({ id: 'a', input: script }), signal: stop.signal })
    await ready
    stop.abort()
    const { exitCode, stdout } = await done
    expect([exitCode, isGone(Number(stdout))]).toEqual([137, true])
  })

  test.each([
    ['and ends by it', [], [null, 'SIGINT']],
    ['which a program handles itself', ['handles'], [3, null]],
  ])('at Ctrl-C the processes of chunks end with their program, %s', async (_, more, end) => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-chunks-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const program = fileURLToPath(new URL('processes/executor.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=reprise-source', program, pipe, ...more], { stdio: 'inherit' })
    const ended = eventOf(child, 'exit')
    // Lets the reader go on if the program never came to its chunks.
    void ended.then(() => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)))
    let said = ''
    // It ends when the last process that has it open is gone.
    for await (const text of createReadStream(pipe, 'utf8')) {
      said += String(text)
      if (said === 'up\nup\n') child.kill('SIGINT')
    }
    expect([said, await ended]).toEqual(['up\nup\n', end])
  })

  test('an attempt past its time-out has failed, however it ends', async () => {
    const command = () => shell('trap "exit 0" TERM; while :; do sleep 0.02; done')
    const { exitCode, stderr } = await createProcessAdapter({ command, timeout: '100ms' }).execute(once({ id: 'a' }))
    expect([exitCode, stderr]).toEqual([143, expect.stringContaining('The time-out of 100 ms is over.')])
  })

  test('under the executor, the second attempt of a chunk succeeds', async () => {
    const warnings: string[] = []
    const jobs = new JobExecutor(adapter, { warn: (line) => warnings.push(line) })
    const script = 'test $REPRISE_CHUNK_ATTEMPT = 2 && echo done'
    const chunks = [{ id: 'a', input: script }]
    const report = await jobs.execute({ chunks }, { retries: 1, retryDelay: 1 })
    expect(report.succeeded).toMatchObject([{ id: 'a', attempts: 2, stdout: 'done' }])
    expect(warnings).toEqual(['[Worker 1] Chunk a failed (Attempt 1/1). Retrying in 1ms...'])
  })
})

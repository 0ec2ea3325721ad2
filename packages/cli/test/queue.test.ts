// An SQS queue as the configuration names it, from a message to an operator's retry, all by the command line (A10, A14).

import { type FauxqsServer, startFauxqs } from 'fauxqs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { shell } from './shell.ts'

/** Fails at first, and does it the second time. */
const COMMAND = 'process.exit(process.env.REPRISE_ATTEMPT === "1" ? 1 : 0)'

async function started() {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const sqs: FauxqsServer = await startFauxqs({ port: 0, logger: false })
  onTestFinished(() => sqs.stop())
  const { queueArn } = sqs.createQueue('dead')
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: 10 })
  const { queueUrl } = sqs.createQueue('work', { attributes: { RedrivePolicy } })
  const command = { argv: [process.execPath, '-e', COMMAND] }
  const at = shell({
    env: { IMPLEMENTATION_SQS_QUEUE_URL: queueUrl, ENV: 'local' },
    files: {
      'reprise.yaml': JSON.stringify({
        sqs: { endpoint: sqs.address, region: 'us-east-1', visibility: '2s' },
        pools: { launch: [{ pool: 'jobs', slots: 2, process: { commands: { 'report.build': command } } }] },
      }),
    },
  })
  const up = at.reprise('up', '--port', '0', '-o', 'json')
  await at.heard(/"link"/, up)
  return { ...at, up, sqs }
}

test('A10, A14: a message runs, its retry goes out by the queue, and operators see and move what is stuck', async () => {
  const { sqs, reprise, ask, up } = await started()
  const status = async (): Promise<string> => {
    const { stdout } = await reprise('status', 't1', '-o', 'json')
    return stdout === ''
      ? ''
      : (JSON.parse(stdout) as { readonly task: { readonly state: { readonly status: string } } }).task.state.status
  }
  sqs.sendMessage('work', JSON.stringify({ id: 't1', action: 'report.build', pool: 'jobs' }))
  sqs.sendMessage('work', 'no json')
  sqs.sendMessage('dead', JSON.stringify({ id: 't2', action: 'report.build', pool: 'jobs', attempt: 2 }))
  await vi.waitUntil(async () => (await status()) === 'dead', { timeout: 60_000 })
  expect(await reprise('retry', 't1')).toMatchObject({ exitCode: 0 })
  await vi.waitUntil(async () => (await status()) === 'succeeded', { timeout: 60_000 })

  const shown = await reprise('queue', 'show')
  expect(shown.stdout).toMatch(/^QUEUE .*\nwork +standard .*\ndead +dead letters +1 /)
  expect((await reprise('queue', 'dead-letters')).stdout).toMatch(/report\.build +t2/)
  expect((await reprise('queue', 'redrive')).stdout).toBe('1 message is in the queue again.\n')
  const kept = JSON.parse((await reprise('queue', 'kept', '-o', 'json')).stdout) as readonly { readonly id: string }[]
  const [{ id } = { id: '' }] = kept
  expect((await reprise('queue', 'read', id)).stdout).toBe('The message is not valid JSON.\nno json\n')
  expect((await reprise('queue', 'resend', id)).stdout).toMatch(/is in the queue again/)
  await vi.waitUntil(async () => !(await reprise('queue', 'kept')).stdout.includes(id), { timeout: 60_000 })
  const again = await vi.waitUntil(
    async () =>
      (JSON.parse((await reprise('queue', 'kept', '-o', 'json')).stdout) as readonly { readonly id: string }[])[0],
    { timeout: 60_000 },
  )
  expect((await reprise('queue', 'drop', again.id)).stdout).toMatch(/is gone/)
  expect((await reprise('queue', 'read', again.id)).exitCode).toBe(3)
  ask()
  expect(await up).toMatchObject({ exitCode: 0 })
})

test('without a queue in the configuration the commands say what to set', async () => {
  const { reprise, heard, ask } = shell({ env: { ENV: 'local' } })
  const up = reprise('up', '--port', '0', '-o', 'json')
  await heard(/"link"/, up)
  const { exitCode, stderr } = await reprise('queue', 'show')
  expect(stderr).toMatch(/IMPLEMENTATION_SQS_QUEUE_URL/)
  expect(exitCode).toBe(3)
  ask()
  await up
})

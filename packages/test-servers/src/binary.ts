// Which redis-server there is, and how it is run: it has to be new enough, and it should die with the process that
// started it.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const minVersion = 7

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

let launch: Promise<Launch> | undefined

/** The command that runs redis-server; its options follow. Rejects, saying what to do, where there is none. */
export function redisLaunch(): Promise<Launch> {
  launch ??= findLaunch()
  return launch
}

async function findLaunch(): Promise<Launch> {
  await checkVersion()
  const command = 'redis-server'
  // On Linux the kernel kills it when its parent has ended, however that ended. setpriv runs it in its own place, so
  // that the process is the server itself.
  const dieWithParent = ['--pdeathsig', 'KILL']
  const canDieWithParent = await run('setpriv', [...dieWithParent, 'true']).then(
    () => true,
    () => false,
  )
  return canDieWithParent ? { command: 'setpriv', args: [...dieWithParent, command] } : { command, args: [] }
}

async function checkVersion(): Promise<void> {
  const howToInstall = 'run `npm run setup:redis` or install it: apt-get install redis-server'
  let output: string
  try {
    output = (await run('redis-server', ['--version'])).stdout
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new Error(`redis-server is missing: ${howToInstall}`)
    }
    throw error
  }
  const version = /v=(\d+)\.[\d.]+/.exec(output)
  if (Number(version?.[1] ?? 0) < minVersion) {
    throw new Error(
      `redis-server is too old: version ${minVersion} or newer is needed, this is ${output.trim()}. ` +
        `Remove it, then ${howToInstall}`,
    )
  }
}

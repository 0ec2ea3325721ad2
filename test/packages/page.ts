// Follows a page as a reader would. Blocks of TypeScript with a file's name are written, commands are run one by one, and
// blocks of text are what the commands before them must print, line by line; `…` stands for anything. After the word `sh`,
// `background` means a program that is left running, and `fails` commands that end in an error.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { root } from '../tidy/checks/source.ts'
import { ownEnvironment, type Project } from './project.ts'

interface Block {
  readonly language: string
  readonly detail: string
  readonly text: string
}

interface Reading {
  readonly project: Project
  readonly environment: NodeJS.ProcessEnv
  /** Stands in for npm, so that nothing is fetched. */
  install(names: readonly string[]): Promise<void>
  /** What a program in the background prints when it is ready. */
  readonly ready: RegExp
}

const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w+) ?([^\n]*)\n(.*?)^```$/gms)].map(([, language = '', detail = '', text = '']) => ({
    language,
    detail,
    text,
  }))

/** How many commands it ran, and how many lines it found. */
export async function follow(page: string, reading: Reading): Promise<{ commands: number; lines: number }> {
  const background: ChildProcess[] = []
  const done = { commands: 0, lines: 0 }
  let printed = ''
  try {
    for (const { language, detail, text } of blocksOf(page)) {
      if (language === 'ts' && detail !== '') reading.project.write({ [detail]: text })
      if (language === 'text') done.lines += expectLines(text, printed)
      if (language !== 'sh') continue
      printed = ''
      for (const command of text.trim().split('\n')) {
        done.commands++
        const installed = /^npm install (.*)$/.exec(command)?.[1]?.split(' ')
        if (installed !== undefined) await reading.install(installed)
        else if (detail === 'background') background.push(await start(command, reading))
        else printed += await finish(command, reading, detail === 'fails')
      }
    }
  } finally {
    await Promise.all(background.map(stop))
  }
  return done
}

function expectLines(text: string, printed: string): number {
  const lines = text.trim().split('\n')
  let from = 0
  for (const line of lines) {
    const pattern = line
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('.*')
    const found = new RegExp(pattern).exec(printed.slice(from))
    if (found === null) throw new Error(`'${line}' is not, or not there, in what was printed:\n${printed}`)
    from += found.index + found[0].length
  }
  return lines.length
}

function shell(command: string, { project, environment }: Reading): ChildProcess {
  const path = [
    join(project.folder, 'node_modules', '.bin'),
    join(root, 'node_modules', '.bin'),
    process.env.PATH ?? '',
  ]
  return spawn(command, {
    cwd: project.folder,
    shell: true,
    // A group of its own, so that a signal reaches the program behind the shell and npx.
    detached: true,
    env: { ...ownEnvironment(), ...environment, PATH: path.join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What it printed; an error if it ended otherwise than expected. */
async function finish(command: string, reading: Reading, fails: boolean): Promise<string> {
  const child = shell(command, reading)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  if ((code !== 0) !== fails) throw new Error(`'${command}' ended with ${code}:\n${printed}`)
  return printed
}

async function start(command: string, reading: Reading): Promise<ChildProcess> {
  const child = shell(command, reading)
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed = (printed + text).slice(-100_000)
        if (reading.ready.test(printed)) resolve()
      })
    }
    child.once('close', (code) => reject(new Error(`'${command}' ended with ${code}:\n${printed}`)))
  })
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const closed = once(child, 'close')
  process.kill(-child.pid, 'SIGTERM')
  await closed
}

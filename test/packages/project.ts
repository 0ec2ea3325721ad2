// A user's project in a temporary folder: its files, and commands that run in it.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root } from '../tidy/checks/source.ts'

export interface Project extends Disposable {
  readonly folder: string
  write(files: Readonly<Record<string, string>>): void
  /** What the command printed; an error with all of it if the command failed. */
  run(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>
}

/** Commands see the programs of the project first, then those of this workspace, such as its Node. */
export function createProject(manifest: object, files: Readonly<Record<string, string>> = {}): Project {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-project-'))
  const path = [join(folder, 'node_modules', '.bin'), join(root, 'node_modules', '.bin'), process.env.PATH ?? '']
  const write: Project['write'] = (texts) => {
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
  }
  write({ 'package.json': JSON.stringify({ name: 'project', private: true, ...manifest }, null, 2), ...files })
  return {
    folder,
    write,
    run: (command, args, environment = {}) =>
      runIn(folder, command, args, { ...ownEnvironment(), ...environment, PATH: path.join(delimiter) }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Without what vitest and npm set for processes of this workspace. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...rest } = process.env
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !/^(?:VITEST|npm_|NODE_ENV$|REPRISE_)/.test(name)))
}

function runIn(cwd: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env, maxBuffer: 64 * 1_024 * 1_024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${[command, ...args].join(' ')} failed.\n${stdout}${stderr}`.trim(), { cause: error }))
    })
  })
}

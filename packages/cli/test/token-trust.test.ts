// A token goes where its owner wants it, and nowhere else: not to an address that only a file in the current folder names.

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { foreignness } from '../src/configuration/own-file.ts'
import { type Given, resolveConfiguration } from '../src/configuration/resolve.ts'
import { knownServers } from '../src/known-servers.ts'
import { writeLocalServer } from '../src/local-server.ts'
import { chooseTarget } from '../src/session.ts'
import { tokenTrust } from '../src/token-trust.ts'
import { shell } from './shell.ts'

/** A server that notes the tokens it gets. */
async function listener(): Promise<{ readonly url: string; readonly tokens: (string | undefined)[] }> {
  const tokens: (string | undefined)[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/healthz') tokens.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json').end('{"items":[],"next":null,"scanned":0}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens }
}

describe('intruder 15: a token', () => {
  test('of the environment is not sent to an address that only reprise.yaml names', async () => {
    const { url, tokens } = await listener()
    const env = { REPRISE_TOKEN: 'rpr_mine' }
    const here = shell({ env: { ...env, HOME: shell().folder }, files: { 'reprise.yaml': `url: ${url}` } })
    for (const words of [['list'], ['list', '--token', 'rpr_typed'], ['doctor']]) {
      const { stderr, stdout } = await here.reprise(...words)
      expect(stdout + stderr).toContain(`was not sent to ${url}`)
    }
    const { stderr, exitCode } = await here.reprise('list')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('environment REPRISE_TOKEN')
    expect(stderr).toContain('reprise.yaml:1')
    expect(stderr).toContain(`--url ${url}`)
    expect(stderr).toContain(join('reprise', 'known-servers'))
    expect(tokens).toEqual([])
  })

  test('is not sent because of --yes', async () => {
    const { url, tokens } = await listener()
    const env = { REPRISE_TOKEN: 'rpr_mine', HOME: shell().folder }
    const here = shell({ env, files: { 'reprise.yaml': `url: ${url}` } })
    expect((await here.reprise('cancel', '--yes', 't1')).exitCode).toBe(2)
    expect(tokens).toEqual([])
  })

  test('goes to an address that came as it did, or that is typed', async () => {
    const { url, tokens } = await listener()
    const files = { 'reprise.yaml': 'url: http://127.0.0.1:9' }
    const HOME = shell().folder
    await shell({ env: { REPRISE_TOKEN: 'rpr_1', REPRISE_URL: url, HOME }, files }).reprise('list')
    await shell({ env: { HOME }, files }).reprise('list', '--url', url, '--token', 'rpr_2')
    await shell({ env: { REPRISE_TOKEN: 'rpr_3', HOME }, files }).reprise('list', '--url', url)
    expect(tokens).toEqual(['Bearer rpr_1', 'Bearer rpr_2', 'Bearer rpr_3'])
  })

  test('of a local server goes to that server, and one of the environment does not', async () => {
    const { url, tokens } = await listener()
    const here = shell({ env: { REPRISE_TOKEN: 'rpr_mine', HOME: shell().folder } })
    await writeLocalServer(join(here.folder, '.reprise'), { url, token: 'rpr_local' })
    expect((await here.reprise('list')).exitCode).toBe(0)
    expect(tokens).toEqual(['Bearer rpr_local'])
    expect((await here.reprise('list', '--token', 'rpr_typed')).exitCode).toBe(2)
    expect(tokens).toHaveLength(1)
  })

  test('goes to a server that its owner has said yes to, once, and it is remembered for them alone', async () => {
    const { url } = await listener()
    const { folder } = shell({ files: { 'reprise.yaml': `url: ${url}` } })
    const env = { REPRISE_TOKEN: 'rpr_mine', XDG_CONFIG_HOME: join(folder, 'config') }
    const given: Given = { env, flags: {}, cwd: folder }
    const questions: string[] = []
    const choose = async (answer: boolean) =>
      chooseTarget(
        await resolveConfiguration(given),
        tokenTrust(knownServers(env), async (question) => {
          questions.push(question)
          return answer
        }),
      )
    await expect(choose(false)).rejects.toThrow('was not sent')
    expect(await choose(true)).toMatchObject({ url, token: 'rpr_mine' })
    expect(await choose(false)).toMatchObject({ url, token: 'rpr_mine' })
    expect(questions).toHaveLength(2)
    expect(questions[0]).toContain(`reprise.yaml:1 names the server ${url}`)
    const { path } = knownServers(env)
    expect(readFileSync(path, 'utf8')).toBe(`${url}\n`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    // Another server in the same file is another question.
    writeFileSync(join(folder, 'reprise.yaml'), 'url: http://127.0.0.1:9')
    await expect(choose(false)).rejects.toThrow('was not sent')
  })

  test('over plain http to another machine is warned of; to this one it is not', async () => {
    const { url } = await listener()
    const env = { HOME: shell().folder }
    const warning = 'others on the way can read your token'
    expect((await shell({ env }).reprise('list', '--token', 't', '--url', url)).stderr).not.toContain(warning)
    // By a name that says nothing of where it leads.
    const far = url.replace('127.0.0.1', '0.0.0.0')
    expect((await shell({ env }).reprise('list', '--token', 't', '--url', far)).stderr).toContain(warning)
  })
})

describe('intruder 15: files that say where a token goes', () => {
  const own = { uid: 1_000, gid: 1_000, mode: 0o100600 }

  test.each([
    ['one of my own', own, 'nothing'],
    ['one of root', { uid: 0, gid: 0, mode: 0o100644 }, 'nothing'],
    ['one that my own group may change', { ...own, mode: 0o100664 }, 'nothing'],
    ['one of another user', { ...own, uid: 1_001 }, 'belongs to another user'],
    ['one that another group may change', { ...own, gid: 50, mode: 0o100660 }, 'chmod go-w'],
    ['one that everybody may change', { ...own, mode: 0o100666 }, 'chmod go-w'],
    ['one of root that everybody may change', { uid: 0, gid: 0, mode: 0o100666 }, 'chmod go-w'],
  ])('%s', (_, stats, says) => {
    expect(foreignness('reprise.yaml', stats, 1_000) ?? 'nothing is wrong').toContain(says)
  })

  test('are not read if others may change them: the configuration, the local server, token files', async () => {
    const { url, tokens } = await listener()
    const HOME = shell().folder
    const open = shell({ env: { HOME }, files: { 'reprise.yaml': `url: ${url}`, token: 'rpr_x' } })
    chmodSync(join(open.folder, 'reprise.yaml'), 0o666)
    expect((await open.reprise('list')).stderr).toContain("Run 'chmod go-w reprise.yaml'")
    chmodSync(join(open.folder, 'reprise.yaml'), 0o644)
    chmodSync(join(open.folder, 'token'), 0o666)
    const withToken = shell({ env: { HOME, REPRISE_URL: url, REPRISE_TOKEN_FILE: join(open.folder, 'token') } })
    expect((await withToken.reprise('list')).stderr).toContain('chmod go-w')
    const local = shell({ env: { HOME } })
    await writeLocalServer(join(local.folder, '.reprise'), { url, token: 'rpr_local' })
    chmodSync(join(local.folder, '.reprise', 'local.json'), 0o606)
    expect((await local.reprise('list')).stderr).toContain('chmod go-w')
    expect(tokens).toEqual([])
  })
})

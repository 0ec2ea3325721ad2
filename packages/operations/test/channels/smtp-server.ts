// A server that speaks as much SMTP as a message needs, for tests; and one that only greets, or says nothing at all.

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SmtpServer {
  readonly port: number
  /** Each message as it came, with its head. */
  readonly messages: string[]
  /** What the next commands are answered with, by their first word; 250 if nothing is said. */
  readonly answers: Map<string, string>
}

export async function anSmtpServer(mood: 'well' | 'silent' = 'well'): Promise<SmtpServer> {
  const messages: string[] = []
  const answers = new Map<string, string>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (mood === 'well') converse(socket, messages, answers)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, messages, answers }
}

function converse(socket: Socket, messages: string[], answers: Map<string, string>): void {
  let text = ''
  let isData = false
  socket.write('220 test ESMTP\r\n')
  socket.on('data', (chunk) => {
    text += chunk.toString()
    for (;;) {
      const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n')
      if (end === -1) return
      const part = text.slice(0, end)
      text = text.slice(end + (isData ? 5 : 2))
      if (isData) {
        isData = false
        messages.push(part)
        socket.write('250 taken\r\n')
        continue
      }
      const word = part.split(/[ :]/, 1)[0]?.toUpperCase() ?? ''
      const said = answers.get(word)
      isData = word === 'DATA' && said === undefined
      socket.write(`${said ?? (isData ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 ok')}\r\n`)
    }
  })
}

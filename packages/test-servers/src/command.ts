// One command to a server on this machine, over a connection of its own. What a server says about itself in INFO is
// read here too.

import { connect } from 'node:net'
import { decodeReply, encodeCommand, MessageSplitter, type RedisReply } from './resp.ts'

export function sendCommand(port: number, args: readonly string[]): Promise<RedisReply> {
  return new Promise((resolve, reject) => {
    const splitter = new MessageSplitter()
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => socket.write(encodeCommand(args)))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`The server closed the connection before it answered ${args[0]}.`)))
    socket.on('data', (chunk: Buffer) => {
      const [message] = splitter.push(chunk)
      if (message === undefined) return
      try {
        const reply = decodeReply(message)
        if (reply instanceof Error) reject(reply)
        else resolve(reply)
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
      socket.destroy()
    })
  })
}

/** The lines `name:value` of INFO or CLUSTER INFO. */
export function fieldsOf(info: RedisReply): ReadonlyMap<string, string> {
  return new Map(
    String(info)
      .split('\r\n')
      .flatMap((line) => {
        const colon = line.indexOf(':')
        return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]]
      }),
  )
}

// What a thread runs to vouch for workers on a Redis store: the few words of the protocol that this takes, over
// connections of its own. It is a text rather than a module, so that bundlers have nothing to follow and the thread
// loads no client. It connects when it is needed, and follows a key that has moved to another server of a cluster.

export const VOUCHING_PROGRAM = String.raw`
const net = require('node:net')
const tls = require('node:tls')
const PATIENCE_MS = 2000
const MOVES_MAX = 3
const connections = new Map()
const places = new Map()

const encoded = (args) =>
  '*' + args.length + '\r\n' + args.map((text) => '$' + Buffer.byteLength(text) + '\r\n' + text + '\r\n').join('')

// One reply of a text of bytes, and where it ends; undefined while a part is missing.
function parsed(text, at) {
  const lineEnd = text.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const line = text.slice(at + 1, lineEnd)
  const end = lineEnd + 2
  switch (text[at]) {
    case '-':
      return [new Error(line), end]
    case '$': {
      const length = Number(line)
      if (length === -1) return [null, end]
      return text.length < end + length + 2 ? undefined : [text.slice(end, end + length), end + length + 2]
    }
    case '*': {
      const items = []
      let place = end
      for (let index = 0; index < Number(line); index++) {
        const item = parsed(text, place)
        if (item === undefined) return undefined
        items.push(item[0])
        place = item[1]
      }
      return [items, place]
    }
    default:
      return [line, end]
  }
}

class Connection {
  constructor(endpoint) {
    this.waiting = []
    this.text = ''
    const { socket } = endpoint
    this.socket = socket.tls ? tls.connect({ ...socket, servername: net.isIP(socket.host) ? '' : socket.host }) : net.connect(socket)
    this.socket.setEncoding('latin1')
    this.socket.setNoDelay(true)
    this.socket.unref()
    this.socket.on('data', (bytes) => this.read(bytes))
    this.socket.on('error', (error) => this.end(error))
    this.socket.on('close', () => this.end(new Error('the connection was closed')))
    this.ended = null
    this.signedIn = this.signIn(endpoint)
    this.signedIn.catch(() => undefined)
  }

  async signIn({ username, password, database }) {
    if (password !== undefined) await this.ask(username === undefined ? ['AUTH', password] : ['AUTH', username, password])
    if (database !== 0) await this.ask(['SELECT', String(database)])
  }

  ask(args) {
    return new Promise((resolve, reject) => {
      if (this.ended !== null) return reject(this.ended)
      const timer = setTimeout(() => this.end(new Error('the server did not answer in time')), PATIENCE_MS)
      this.waiting.push({ resolve, reject, timer })
      this.socket.write(encoded(args))
    })
  }

  read(bytes) {
    this.text += bytes
    for (;;) {
      const reply = parsed(this.text, 0)
      if (reply === undefined) return
      this.text = this.text.slice(reply[1])
      const caller = this.waiting.shift()
      if (caller === undefined) continue
      clearTimeout(caller.timer)
      if (reply[0] instanceof Error) caller.reject(reply[0])
      else caller.resolve(reply[0])
    }
  }

  end(error) {
    if (this.ended !== null) return
    this.ended = error
    this.socket.destroy()
    for (const { reject, timer } of this.waiting.splice(0)) {
      clearTimeout(timer)
      reject(error)
    }
  }
}

// Of a place, or of the first server that lets us in.
async function connectionTo(place) {
  const first = data.endpoints[0]
  const endpoints = place === undefined
    ? data.endpoints
    : [{ ...first, label: place, socket: { host: hostOf(place), port: portOf(place), tls: first.socket.tls }, database: 0 }]
  let failure = null
  for (const endpoint of endpoints) {
    let connection = connections.get(endpoint.label)
    if (connection === undefined || connection.ended !== null) {
      connection = new Connection(endpoint)
      connections.set(endpoint.label, connection)
    }
    try {
      await connection.signedIn
      return connection
    } catch (error) {
      failure = error
      connection.end(error)
    }
  }
  throw failure
}

const hostOf = (place) => place.slice(0, place.lastIndexOf(':'))
const portOf = (place) => Number(place.slice(place.lastIndexOf(':') + 1))

async function run(key, args) {
  for (let moves = 0; ; moves++) {
    const place = places.get(key)
    try {
      const connection = await connectionTo(place)
      try {
        return await connection.ask(['FCALL', data.functionName, '1', key, ...args])
      } catch (error) {
        if (!/function not found/i.test(error.message)) throw error
        await connection.ask(['FUNCTION', 'LOAD', 'REPLACE', data.library])
        return await connection.ask(['FCALL', data.functionName, '1', key, ...args])
      }
    } catch (error) {
      const moved = /^MOVED \d+ (\S+)$/.exec(error.message)
      // A server that is gone may have been replaced: the next look starts from those that are known.
      if (moved === null) places.delete(key)
      if (moved === null || moves >= MOVES_MAX) throw error
      places.set(key, moved[1].startsWith(':') ? hostOf(place ?? data.endpoints[0].label) + moved[1] : moved[1])
    }
  }
}

async function vouchIn(key, { worker, epoch, leaseMs, outlook }) {
  let renewed = 0
  let cursor = '0'
  do {
    const words = outlook === null ? '' : '=' + outlook
    const [next, some] = await run(key, ['', worker, String(epoch), String(leaseMs), words, cursor])
    renewed += Number(some)
    cursor = next
  } while (cursor !== '0')
  return renewed
}

return {
  // Each partition for itself: one that can't be reached does not keep the others waiting.
  async vouch(request) {
    const outcomes = await Promise.allSettled(data.keys.map((key) => vouchIn(key, request)))
    const refused = outcomes.find(({ status }) => status === 'rejected')
    const renewed = outcomes.reduce((sum, { value = 0 }) => sum + value, 0)
    if (refused !== undefined && renewed === 0) throw refused.reason
    return { renewed }
  },
  close() {
    for (const connection of connections.values()) connection.end(new Error('closed'))
    connections.clear()
    places.clear()
  },
}`

// The console as files: read once, at the start, and sent as they are, compressed where the browser takes that. Their names
// carry a hash of their content, so a browser keeps them for ever; the page that names them is asked for each time. Every
// address that is nobody else's and that a person opens is that page: the console finds its way by the address.

import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECURITY_HEADERS } from '../http/security-headers.ts'

/** How a person without a session gets one: at an issuer, or by the link that the server prints. */
export type WayIn = 'issuer' | 'link'

interface ConsoleFile {
  readonly type: string
  readonly plain: Buffer
  /** By the name of the encoding, the best one first. */
  readonly encoded: readonly (readonly [encoding: string, bytes: Buffer])[]
  readonly cache: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
const FOR_EVER = 'public, max-age=31536000, immutable'
const ASK_AGAIN = 'no-cache'
/** Addresses of the API and of what stands around it: a wrong one is answered as such, and not with a page. */
const NOT_PAGES = /^\/(?:api|assets|auth|events|healthz|internal|metrics|readyz)(?:\/|$)/
const PAGE = '/index.html'

/** No string becomes markup or script, whatever a name or an error holds: nothing in the page may turn one into the other. */
const PAGE_HEADERS = {
  'content-security-policy': `${SECURITY_HEADERS['content-security-policy']}; require-trusted-types-for 'script'; trusted-types 'none'`,
  'cache-control': ASK_AGAIN,
}

export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, ConsoleFile>
  readonly #page: ConsoleFile

  private constructor(files: ReadonlyMap<string, ConsoleFile>, page: ConsoleFile) {
    this.#files = files
    this.#page = page
  }

  /** Null if it is not there: it was not built, or is not installed. */
  static read(folder: string, wayIn: WayIn): ConsoleFiles | null {
    const names = namesIn(folder)
    const files = new Map(names.filter(isServed).map((name) => [urlOf(name), fileOf(folder, name)]))
    const page = files.get(PAGE)
    if (page === undefined) return null
    const text = page.plain.toString('utf8').replace('%REPRISE_SIGN_IN%', wayIn)
    return new ConsoleFiles(files, { ...page, plain: Buffer.from(text), encoded: [] })
  }

  /** The page itself, for `/`. */
  get page(): { readonly html: string; readonly headers: Readonly<Record<string, string>> } {
    return { html: this.#page.plain.toString('utf8'), headers: PAGE_HEADERS }
  }

  /** Whether a path that no route has is the console's. */
  has(request: FastifyRequest): boolean {
    return this.#find(request) !== null
  }

  /** Answers a request that `has` agreed to. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const file = this.#find(request) ?? this.#page
    if (file === this.#page) reply.headers(PAGE_HEADERS)
    const accepted = String(request.headers['accept-encoding'] ?? '')
    const [encoding, bytes] = file.encoded.find(([name]) => accepted.includes(name)) ?? [null, file.plain]
    if (encoding !== null) reply.header('content-encoding', encoding)
    if (file.encoded.length > 0) reply.header('vary', 'accept-encoding')
    return reply.code(200).header('cache-control', file.cache).type(file.type).send(bytes)
  }

  #find({ method, url, headers }: FastifyRequest): ConsoleFile | null {
    if (method !== 'GET' && method !== 'HEAD') return null
    const path = url.split('?', 1)[0] ?? ''
    const file = path === PAGE ? undefined : this.#files.get(path)
    if (file !== undefined) return file
    const isForPeople = headers.accept?.includes('text/html') === true
    return isForPeople && !NOT_PAGES.test(path) ? this.#page : null
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}

const isServed = (name: string): boolean => Object.hasOwn(TYPES, extname(name))

const urlOf = (name: string): string => `/${name.split(sep).join('/')}`

function fileOf(folder: string, name: string): ConsoleFile {
  const path = join(folder, name)
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    plain: readFileSync(path),
    encoded: ENCODINGS.flatMap(([encoding, ending]) => {
      const bytes = bytesAt(path + ending)
      return bytes === null ? [] : [[encoding, bytes] as const]
    }),
    cache: urlOf(name).startsWith('/assets/') ? FOR_EVER : ASK_AGAIN,
  }
}

function bytesAt(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

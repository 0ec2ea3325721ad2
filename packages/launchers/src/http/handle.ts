// The handle of an HTTP launch: a text in the store that tells any orchestrator, also one that knows nothing else of the
// launch, where to ask about it. Each says until when an answer can come at all, so that no launch is waited for for ever.

import { bootId, isAlive, startTimeOf } from '../processes.ts'

export type HttpHandle =
  /** The answer comes to the process that asked. */
  | {
      readonly kind: 'sync'
      readonly until: number
      readonly host: string
      readonly pid: number
      readonly startTime: number
    }
  /** The worker tells how it is doing at this address. */
  | { readonly kind: 'status'; readonly until: number; readonly url: string }
  /** Only the callback tells. */
  | { readonly kind: 'callback'; readonly until: number; readonly name: string }

export function handleText(handle: HttpHandle): string {
  const { kind, until } = handle
  if (kind === 'sync') return `${kind}:${until}:${handle.host}:${handle.pid}:${handle.startTime}`
  return `${kind}:${until}:${kind === 'status' ? handle.url : handle.name}`
}

/** Null for a text that is no handle of ours. */
export function parseHandle(text: string): HttpHandle | null {
  const [, kind, digits, rest = ''] = /^(sync|status|callback):(\d+):(.*)$/s.exec(text) ?? []
  const until = Number(digits)
  if (kind === 'status') return { kind, until, url: rest }
  if (kind === 'callback') return { kind, until, name: rest }
  const [host = '', pid, startTime] = rest.split(':')
  return kind === 'sync' ? { kind, until, host, pid: Number(pid), startTime: Number(startTime) } : null
}

/** A sync handle of this process. */
export function ownSyncHandle(until: number): HttpHandle {
  return { kind: 'sync', until, host: hostId(), pid: process.pid, startTime: startTimeOf(process.pid) ?? 0 }
}

/** Whether the process that waits for the answer lives; null if that can't be told from here. */
export function isAskerAlive(handle: HttpHandle & { readonly kind: 'sync' }): boolean | null {
  return handle.host === hostId() && handle.host !== '' ? isAlive(handle) : null
}

// The same for all processes of a host until it is started anew. Empty where there is no /proc.
function hostId(): string {
  try {
    return bootId()
  } catch {
    return ''
  }
}

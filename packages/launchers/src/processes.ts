// What Linux tells about processes, read from /proc. A process is known by its id and the moment it started, because ids
// are used again. A run is a session: the supervisor leads it, and whatever it starts is a member from its first moment on,
// so that a process nobody took note of can still be found.

import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessId {
  readonly pid: number
  /** In ticks since the machine started. */
  readonly startTime: number
}

interface Stat {
  readonly state: string
  readonly session: number
  readonly startTime: number
}

// A machine that was started anew has another one: no process of before can live then.
let ownBootId: string | undefined
export function bootId(): string {
  ownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return ownBootId
}

/** Null if there is no such process. */
function statOf(pid: number): Stat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The second field is the program's name in parentheses, and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', session: Number(fields[3]), startTime: Number(fields[19]) }
}

// A zombie has ended; only its parent has not asked for its status yet.
const hasEnded = ({ state }: Stat): boolean => state === 'Z' || state === 'X'

export function startTimeOf(pid: number): number | null {
  return statOf(pid)?.startTime ?? null
}

export function isAlive({ pid, startTime }: ProcessId): boolean {
  const stat = statOf(pid)
  return stat !== null && !hasEnded(stat) && stat.startTime === startTime
}

/** Who lives in the session of this leader, without the leader itself. The leader may be dead. */
function membersOf(leader: ProcessId): number[] {
  const successor = statOf(leader.pid)
  // The id is free for another process only when the session is empty.
  if (successor !== null && successor.startTime !== leader.startTime) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      if (pid === leader.pid) return false
      const stat = statOf(pid)
      return stat !== null && !hasEnded(stat) && stat.session === leader.pid
    })
}

/** Everything that lives of a run but its supervisor: the session, and the command itself if it has left it. */
export function livingOf(leader: ProcessId, command: ProcessId | null): number[] {
  const members = membersOf(leader)
  const hasLeft = command !== null && !members.includes(command.pid) && isAlive(command)
  return hasLeft ? [...members, command.pid] : members
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has just ended, or it is another user's by now: the waiter looks again.
    }
  }
}

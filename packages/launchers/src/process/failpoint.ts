// For tests: a place at which a process dies, or stands still, if the environment says so. REPRISE_FAILPOINT names the
// place ('supervisor:gated'), with '=stop' to be stopped there instead of killed. Without it nothing happens.

export type Failpoint =
  /** The run directory is prepared, and not yet in its place. */
  | 'launcher:prepared'
  /** It is in its place; no supervisor yet. */
  | 'launcher:placed'
  /** The supervisor is started, and has not been told what to do. */
  | 'launcher:started'
  /** The supervisor knows what to do; it has not passed the gate. */
  | 'supervisor:begun'
  /** It has passed the gate; nothing is started. */
  | 'supervisor:gated'
  /** The command runs; its process id is not noted. */
  | 'supervisor:spawned'
  /** The process id is noted; the launcher has not been told. */
  | 'supervisor:noted'
  /** The command has ended; the outcome is not written. */
  | 'supervisor:ended'
  /** The outcome is written; nobody has been woken. */
  | 'supervisor:written'

export function failpoint(name: Failpoint): void {
  const wanted = process.env.REPRISE_FAILPOINT
  if (wanted === name) process.kill(process.pid, 'SIGKILL')
  else if (wanted === `${name}=stop`) process.kill(process.pid, 'SIGSTOP')
}

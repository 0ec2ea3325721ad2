// A failure in a few words: its code where that says something, and the first line of its message.

interface Said {
  readonly code: string
  readonly name: string
  readonly message: string
}

const VAGUE = new Set(['unknown', 'error', ''])

/** 'ECONNREFUSED: connect ECONNREFUSED 203.0.113.7:443', without saying a thing twice. */
export function causeWords({ code, name, message }: Said): string {
  const [line = ''] = message.split('\n', 1)
  const kind = VAGUE.has(code.toLowerCase()) ? name : code
  return line.toLowerCase().includes(kind.toLowerCase()) || kind === '' ? line : `${kind}: ${line}`
}

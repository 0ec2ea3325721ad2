// Whether an address leads to this machine, by its name alone.

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** `hostname` as a URL has it. */
export const isThisMachine = (hostname: string): boolean => LOOPBACK.test(hostname)

// The system-wide monotonic clock, in which an order says when it is void. Every process of a host reads the same value
// (process.hrtime is CLOCK_MONOTONIC on Linux), which is not so for performance.now(): that begins with each process.

export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

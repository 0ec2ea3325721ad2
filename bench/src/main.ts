/**
 * Runs the benchmarks and prints what they measured. Arguments choose which ones.
 */

export {}

/**
 * The demo that `npm start` runs: a few tasks, a few faults, and how each one ends.
 */

export {}

/**
 * One suite for every engine: what the Engine port promises, as tests that each engine runs against itself.
 */

export {}

// The version of Reprise: of this package and of all others, which are published together.

export const VERSION = '0.1.0'

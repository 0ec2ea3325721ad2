// Lends a `require` to the packages that commonjs.ts imports next: see lendRequire.

import { lendRequire } from '@reprise/core'

export const takeBack = lendRequire()

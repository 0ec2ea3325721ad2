// What is used of yaml, which is CommonJS on Node. See lendRequire.

import { takeBack } from './lent-require.ts'

// After the import above, which lends a `require` to what comes now.

import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml'

takeBack()

export { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments }

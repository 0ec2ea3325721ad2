// What is used of redis, a package of CommonJS. See lendRequire.

import { takeBack } from './lent-require.ts'

// After the import above, which lends a `require` to what comes now.

import { createClient, DisconnectsClientError, ErrorReply } from 'redis'

takeBack()

export { createClient, DisconnectsClientError, ErrorReply }

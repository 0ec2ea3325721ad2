// What is used of the metrics client and of pino, packages of CommonJS. See lendRequire.

import { takeBack } from './lent-require.ts'

// After the import above, which lends a `require` to what comes now.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { destination, pino } from 'pino'

takeBack()

export { Counter, collectDefaultMetrics, destination, Gauge, Histogram, pino, Registry }

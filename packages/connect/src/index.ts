/**
 * Turns an engine address such as sqlite:./reprise.db into an Engine. An engine package is loaded only when its
 * address is used. What an engine can do is not this package's business: see the Engine port in core.
 */

export { addressesBeside } from './beside.ts'
export { type Connection, type ConnectOptions, connectEngine } from './connect.ts'
export { defaultsFromEnvironment, maxRetriesFromEnvironment } from './environment.ts'
export { warnOfRisk } from './risk.ts'

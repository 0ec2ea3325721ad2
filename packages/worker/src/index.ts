/**
 * The SDK for processes that run tasks: claim, run the handler, renew the lease, settle.
 */

export {}

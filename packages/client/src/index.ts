/**
 * The SDK for developers who define actions and submit tasks. It runs no task itself.
 */

export {}

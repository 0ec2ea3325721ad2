/**
 * What users need to test their own actions and handlers: an engine in memory and a clock they move by hand.
 */

export {}

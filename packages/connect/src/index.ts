/**
 * Turns an engine address such as sqlite:./reprise.db into an Engine. An engine package is loaded only when its
 * address is used.
 */

export {}

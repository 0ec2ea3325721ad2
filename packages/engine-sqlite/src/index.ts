/**
 * The embedded engine: the Engine port on SQLite. It holds storage logic only; what a transition means is
 * decided in core.
 */

export {}

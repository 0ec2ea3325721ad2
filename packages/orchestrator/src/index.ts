/**
 * The services that move tasks, one service per file. They speak to the store through the Engine port only.
 */

export {}

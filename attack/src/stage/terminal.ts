// Loaded before the command line: it then takes its pipes for a terminal of 80 columns.

for (const stream of [process.stdout, process.stderr]) {
  Object.defineProperty(stream, 'isTTY', { value: true })
  Object.defineProperty(stream, 'columns', { value: 80 })
}

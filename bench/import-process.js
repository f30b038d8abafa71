// Measures the import of one package in a fresh process. The first argument names the package. Prints milliseconds.
const startedAt = process.hrtime.bigint()
await import(process.argv[2])
const nanoseconds = process.hrtime.bigint() - startedAt
console.log(Number(nanoseconds) / 1e6)

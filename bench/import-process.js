// A program that has loaded nothing but what Node starts with. Prints how many milliseconds it waits for the package that
// its first argument names.
const startedAt = process.hrtime.bigint()
await import(process.argv[2])
const nanoseconds = process.hrtime.bigint() - startedAt
console.log(Number(nanoseconds) / 1e6)

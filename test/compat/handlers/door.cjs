// Handlers for the tests of lido/piscina.
const { threadId } = require('node:worker_threads')

module.exports = {
  echo: value => value,
  loop: () => {
    for (;;);
  },
  exit: () => process.exit(1),
  waitForFlag: flag => {
    Atomics.wait(flag, 0, 0)
    return 'flag seen'
  },
  exitOnceSet: flag => {
    setInterval(() => Atomics.load(flag, 0) === 1 && process.exit(1), 1)
  },
  setAndStay: flag => {
    Atomics.store(flag, 0, 1)
    return new Promise(() => {})
  },
  count: counter => Atomics.add(counter, 0, 1),
  busy: durationMs => {
    const endsAt = performance.now() + durationMs
    while (performance.now() < endsAt);
  },
  threadId: () => threadId,
  twice: (...args) => args.length,
}

// The common part of the faulty pools in harness.test.js: they claim all features and start no worker.

export const features = [
  ...['signal', 'transfer', 'slots', 'maxQueue', 'idleTimeout', 'files', 'resourceLimits', 'execArgv'],
  ...['close', 'processes'],
]

/** Opens a pool that answers every call with `answer()`. */
export function openAnswering(answer) {
  const calls = { run: answer, close: answer, destroy: answer }
  return { ...calls, wrongCalls: () => [answer] }
}

// What the pools of the self-test have in common: they say that they can do all, and start no worker.

export const features = [
  ...['signal', 'transfer', 'slots', 'maxQueue', 'idleTimeout', 'files', 'resourceLimits', 'execArgv'],
  ...['close', 'processes'],
]

/** Every call of it is answered by `answer()`. */
export function openAnswering(answer) {
  const calls = { run: answer, close: answer, destroy: answer }
  return { ...calls, wrongCalls: () => [answer] }
}

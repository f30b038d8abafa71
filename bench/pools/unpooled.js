// Calls the handler on the host, without a pool and without a worker.
export async function start({ handlerName }) {
  const { default: handler } = await import(`../handlers/${handlerName}.js`)
  return { run: async payload => handler(payload), stop() {} }
}

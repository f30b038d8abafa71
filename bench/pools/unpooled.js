// No pool and no worker: the handler is called where it is asked for.
export async function start({ handlerName }) {
  const { default: handler } = await import(`../handlers/${handlerName}.js`)
  return { run: async payload => handler(payload), stop() {} }
}

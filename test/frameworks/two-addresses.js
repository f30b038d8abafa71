// Lets a server listen on 'localhost' with two addresses, as on a machine with IPv6.
import dns from 'node:dns'

const addresses = ['127.0.0.1', '127.0.0.2']

/** Resolves to the second address. `app.server` listens on the first address. */
export async function listenOnTwo(t, listen) {
  const lookup = t.mock.method(dns, 'lookup', (name, ...rest) => {
    const found = (name === 'localhost' ? addresses : [name]).map(address => ({ address, family: 4 }))
    const tell = rest.at(-1)
    if (rest[0].all) tell(null, found)
    else tell(null, found[0].address, 4)
  })
  await listen()
  lookup.mock.restore()
  return addresses[1]
}

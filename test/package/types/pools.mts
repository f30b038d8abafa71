// The class from an ES module, for `fastify-beside.cts`.
import { Pool } from 'lido'

export { Pool }
export const poolMadeByModules = new Pool()

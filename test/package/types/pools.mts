// The class as ES modules have it, for `fastify-beside.cts`.
import { Pool } from 'lido'

export { Pool }
export const poolMadeByModules = new Pool()

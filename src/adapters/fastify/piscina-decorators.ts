// The decorators of fastify-piscina, with the class of `lido/piscina`. `runTask` accepts the arguments of Piscina's
// `runTask` of 2020, and the options of `run()`, which later programs pass.
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { asPlugin } from '../http/fastify-plugin.js'
import { watchFurtherServers } from '../http/further-servers.js'
import type { Options as PiscinaOptions } from '../piscina/index.js'
import { piscinaOptions } from './options.js'

export async function decorateWithPiscina(
  app: FastifyInstance,
  given: PiscinaOptions & { piscina?: true | undefined },
): Promise<void> {
  if (app.hasDecorator('piscina')) throw new Error('fastify-piscina has already been registered')
  const { default: Piscina } = await import('../piscina/index.js')
  const piscina = new Piscina(piscinaOptions(given))
  app.decorate('piscina', piscina)
  app.decorate('runTask', (task: unknown, ...rest: unknown[]) =>
    isRunOptions(rest[0]) ? piscina.run(task, rest[0]) : piscina.runTask(task, ...rest),
  )
  const furtherServersClosed = watchFurtherServers(app)
  app.addHook('onClose', async () => {
    await furtherServersClosed()
    await piscina.close()
  })
}

/** False for a signal, which the older call has in this place. */
function isRunOptions(value: unknown): value is object {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { addEventListener, on } = value as { addEventListener?: unknown; on?: unknown }
  return typeof addEventListener !== 'function' && typeof on !== 'function'
}

/** Replaces the plugin fastify-piscina and takes its options. The same as `fastifyPool` with `piscina: true`. */
export const fastifyPiscina: FastifyPluginAsync<PiscinaOptions> = asPlugin(
  async (app: FastifyInstance, options: PiscinaOptions) => await decorateWithPiscina(app, options),
  'fastify-piscina',
)

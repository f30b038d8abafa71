// Imported by the program and by workers: the store of @fastify/request-context crosses to handlers.
import { asyncLocalStorage, requestContext } from '@fastify/request-context'
import { workerLogger } from 'lido/pino'
import { carry } from 'lido/worker'
import { handlersOf } from './carried.js'

export const storage = carry(asyncLocalStorage, {
  name: 'request',
  pick: ({ request }) => ({ id: request.id }),
})
export const readId = () => requestContext.get('id')
export const { read, readAtOnce, chunks, pairs, callBack, dieOnce, later, nest } = handlersOf(
  readId,
  workerLogger(),
  import.meta.url,
)

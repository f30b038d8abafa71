// Adds the plugin's decorators to the types of Fastify. A program can declare which module each pool runs:
//   declare module 'lido/fastify' { interface PoolModules { default: typeof import('./work.js') } }
import type { Pool } from '../../index.js'
import type { Piscina } from '../piscina/index.js'
import type { RequestPool } from './request-pool.js'

/** The module of each pool, by the pool's name; `default` is `app.pool`. A program declares all modules or none. */
// biome-ignore lint/suspicious/noEmptyInterface: programs add to it
export interface PoolModules {}

/** `any` if the program did not declare the module. */
export type ModuleOf<Name> = Name extends keyof PoolModules ? PoolModules[Name] : any

/** The pools of a server, by name: `app.pools`. */
export type FastifyPools = keyof PoolModules extends never
  ? Readonly<Record<string, Pool>>
  : { readonly [Name in keyof PoolModules]: Pool<PoolModules[Name]> }

/** The pools of a request, by name: `request.pools`. */
export type RequestPools = keyof PoolModules extends never
  ? Readonly<Record<string, RequestPool>>
  : { readonly [Name in keyof PoolModules]: RequestPool<PoolModules[Name]> }

declare module 'fastify' {
  interface FastifyInstance {
    /** The pool that was registered without a name. */
    pool: Pool<ModuleOf<'default'>>
    /** All pools by name; `default` is `pool`. */
    pools: FastifyPools
    /** Only with `piscina: true`. */
    piscina: Piscina
    /** Only with `piscina: true`. Accepts the arguments of `run()` and of Piscina's `runTask()` of 2020. */
    runTask: (task: any, ...rest: any[]) => Promise<any>
  }

  interface FastifyRequest {
    /** `app.pool` for this request. Its tasks are cancelled when the client leaves or `deadlineMs` has passed. */
    readonly pool: RequestPool<ModuleOf<'default'>>
    /** `app.pools` for this request. */
    readonly pools: RequestPools
  }

  interface FastifyContextConfig {
    pool?: {
      /** The tasks must finish within this many milliseconds after the request arrived. `Infinity`: no limit. */
      deadlineMs?: number | undefined
    }
  }
}

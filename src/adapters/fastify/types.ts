// What Fastify's types learn from the plugin. A program may say which module each pool runs:
//   declare module 'lido/fastify' { interface PoolModules { default: typeof import('./work.js') } }
import type { Pool } from '../../index.js'
import type { Piscina } from '../piscina/index.js'
import type { RequestPool } from './request-pool.js'

/** The module that each pool runs, by the pool's name; `default` is `app.pool`. Yours to declare: all of them, or none. */
// biome-ignore lint/suspicious/noEmptyInterface: programs add to it
export interface PoolModules {}

/** `any` where the program has declared nothing. */
export type ModuleOf<Name> = Name extends keyof PoolModules ? PoolModules[Name] : any

export type FastifyPools = keyof PoolModules extends never
  ? Readonly<Record<string, Pool>>
  : { readonly [Name in keyof PoolModules]: Pool<PoolModules[Name]> }

export type RequestPools = keyof PoolModules extends never
  ? Readonly<Record<string, RequestPool>>
  : { readonly [Name in keyof PoolModules]: RequestPool<PoolModules[Name]> }

declare module 'fastify' {
  interface FastifyInstance {
    /** The pool that was registered without a name. */
    pool: Pool<ModuleOf<'default'>>
    /** Every pool by its name; `default` is `pool`. */
    pools: FastifyPools
    /** With `piscina: true` only. */
    piscina: Piscina
    /** With `piscina: true` only: takes arguments as `run()` and as Piscina's `runTask()` of 2020. */
    runTask: (task: any, ...rest: any[]) => Promise<any>
  }

  interface FastifyRequest {
    /** `app.pool` for this request: its tasks are cancelled when the client has gone or the time is over. */
    readonly pool: RequestPool<ModuleOf<'default'>>
    /** `app.pools`, likewise. */
    readonly pools: RequestPools
  }

  interface FastifyContextConfig {
    pool?: {
      /** Milliseconds from the request's arrival, by which its tasks must be done; `Infinity`: no limit. */
      deadlineMs?: number | undefined
    }
  }
}

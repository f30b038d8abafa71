// By which names Nest knows pools.
import { Inject } from '@nestjs/common'

export const DEFAULT_POOL = 'default'
/** The pools of one dynamic module, which closes them. */
export const POOLS_OF_MODULE = 'LIDO_POOLS_OF_MODULE'

/** The token of a pool, for `module.get()`, `overrideProvider()` and factories. Without a name: the pool of `forRoot()`. */
export function getPoolToken(name: string = DEFAULT_POOL): string {
  return `LIDO_POOL(${name})`
}

/** Injects a pool into a constructor's parameter or a property. Without a name: the pool of `forRoot()`. */
export function InjectPool(name?: string): ReturnType<typeof Inject> {
  return Inject(getPoolToken(name))
}

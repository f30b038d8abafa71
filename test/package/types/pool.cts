// The main entry point in CommonJS.
import { isPoolError, Pool, type PoolOptions } from 'lido'

import lido = require('lido')

const options: PoolOptions = { filename: require.resolve('./handler.cjs') }
const pool = new Pool(options)
const same: lido.Pool = pool

async function main(): Promise<number> {
  try {
    const result: number = await pool.run(1)
    return result
  } catch (error) {
    if (isPoolError(error)) console.error(error.code)
    return 0
  } finally {
    await same.close()
  }
}

void main()
const typed = new Pool<typeof import('./handler.cjs')>(options)
const doubled: Promise<number> = typed.run(1)
// @ts-expect-error the handler takes a number
typed.run('one')
// @ts-expect-error the module has no function of this name
typed.run(1, { name: 'length' })
const asDefault = new Pool<{ default: typeof import('./handler.cjs') }>(options)
const again: Promise<number> = asDefault.run(1)
// @ts-expect-error the option is called maxWorkers
new lido.Pool({ maxWorker: 4 })
void [doubled, again]

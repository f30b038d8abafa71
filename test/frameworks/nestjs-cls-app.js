// A Nest program with nestjs-cls, whose request ids come from a header.
import { Param } from '@nestjs/common'
import { InjectPool, PoolModule } from 'lido/nestjs'
import { ClsModule } from 'nestjs-cls'
// Registers the store in the program.
import './handlers/carried-nestjs.js'
import { controllerOf, openNest } from './nestjs-app.js'

/** The route `/read/:id` runs the handler of the pool. */
export function openNestWithCls(t, poolOptions, adapter) {
  const idGenerator = request => request.headers['x-request-id']
  return openNest(
    t,
    {
      imports: [
        ClsModule.forRoot({ global: true, middleware: { mount: true, generateId: true, idGenerator } }),
        PoolModule.forRoot(poolOptions),
      ],
      controllers: [controllerOf({ 'read/:id': (pool, id) => pool.run(id) }, [InjectPool()], [Param('id')])],
    },
    adapter,
  )
}

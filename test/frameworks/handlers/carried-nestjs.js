// Imported by the program and by workers: the id in the store of nestjs-cls crosses to handlers.
import { workerLogger } from 'lido/pino'
import { carry } from 'lido/worker'
import { CLS_ID, ClsServiceManager } from 'nestjs-cls'
import { handlersOf } from './carried.js'

const cls = ClsServiceManager.getClsService()
carry({
  name: 'cls',
  capture: () => (cls.isActive() ? { id: cls.getId() } : undefined),
  run: ({ id }, callback) => cls.runWith({ [CLS_ID]: id }, callback),
})
export const { read } = handlersOf(() => cls.getId(), workerLogger())

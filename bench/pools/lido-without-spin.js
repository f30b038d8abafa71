// lido whose workers go to sleep as soon as they have answered.
import { start as startLido } from './lido.js'

export const packageName = 'lido'

export function start({ workers }) {
  return startLido({ workers, spin: false })
}

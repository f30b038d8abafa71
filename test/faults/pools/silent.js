// Never settles a call.
import { openAnswering } from './wrong.js'

export { features } from './wrong.js'
export const open = () => openAnswering(() => new Promise(() => {}))

// Loses every task, and never ends.
import { openAnswering } from './wrong.js'

export { features } from './wrong.js'
export const open = () => openAnswering(() => new Promise(() => {}))

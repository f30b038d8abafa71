// Rejects every call.
import { openAnswering } from './wrong.js'

export { features } from './wrong.js'
export const open = () =>
  openAnswering(async () => {
    throw new Error('no')
  })

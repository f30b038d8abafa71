// Starts the build of lido that `--against` names.
import { roster } from '../roster.js'
import { startLido } from './start.js'

const lido = await import(roster['lido-before'].packageName)

export const start = options => startLido(lido, options)

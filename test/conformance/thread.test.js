import { holdAgainst } from './conformance.js'

holdAgainst('thread')

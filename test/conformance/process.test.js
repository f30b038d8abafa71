import { holdAgainst } from './conformance.js'

holdAgainst('process')

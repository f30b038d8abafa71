import { holdAgainst } from './conformance.js'

holdAgainst('inline')

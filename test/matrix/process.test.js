import { holdAgainst } from './hold.js'

holdAgainst('process', 2)

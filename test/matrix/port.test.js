import { holdAgainst } from './hold.js'

holdAgainst('port', 3)

import { holdAgainst } from './hold.js'

holdAgainst('inline', 3)

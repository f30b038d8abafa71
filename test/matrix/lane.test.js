import { holdAgainst } from './hold.js'

holdAgainst('lane', 3)

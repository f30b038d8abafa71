// Entry point `lido/piscina` for `require()`: the module is the class.
import { Piscina } from './piscina.js'

export = Piscina

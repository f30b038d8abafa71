// The door `lido/piscina` for those who cannot load ES modules: the module is the class.
import { Piscina } from './piscina.js'

export = Piscina

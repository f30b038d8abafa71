// `require('lido-as-piscina')` is the class itself.
import Piscina = require('lido/piscina')

export = Piscina

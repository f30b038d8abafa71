// Keeps nothing: hands lido's Piscina door to those who asked for `piscina`.
'use strict'

module.exports = require('lido/piscina')

// The module `lido/workerpool`, for programs that require `workerpool`.
'use strict'

module.exports = require('lido/workerpool')

// Returns the workerData that a worker sees, from Node and from lido/piscina.
const { workerData } = require('node:worker_threads')
const Piscina = require('lido/piscina')

module.exports = () => ({ own: workerData, door: Piscina.workerData, isWorkerThread: Piscina.isWorkerThread })

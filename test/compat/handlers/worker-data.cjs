// What a worker sees of its pool's workerData, from Node and from the door.
const { workerData } = require('node:worker_threads')
const Piscina = require('lido/piscina')

module.exports = () => ({ own: workerData, door: Piscina.workerData, isWorkerThread: Piscina.isWorkerThread })

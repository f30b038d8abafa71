// A program for tests, as a cluster of so many processes or alone: the one that is told to holds its event loop for as long.
import cluster from 'node:cluster'

const processes = Number(process.env.PROCESSES)

if (processes > 1 && cluster.isPrimary) {
  const workers = Array.from({ length: processes }, () => cluster.fork())
  for (const worker of workers) {
    worker.on('message', message => {
      if (message.kind === 'up' && ++up === processes) process.send({ kind: 'listening' })
      if (message.kind === 'blocked') process.send(message)
    })
  }
  let up = 0
  process.on('message', message => {
    if (message.kind === 'block') workers[message.index].send(message)
  })
} else {
  process.on('message', message => {
    if (message.kind !== 'block') return
    const endsAt = performance.now() + message.forMs
    while (performance.now() < endsAt);
    process.send({ kind: 'blocked' })
  })
  process.send({ kind: processes > 1 ? 'up' : 'listening' })
}

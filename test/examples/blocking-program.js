// A test program that runs as PROCESSES processes of a cluster, or as a single process. On the message `block`, the chosen
// process blocks its event loop.
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

// Mistakes that somebody might make in the host, each as a change to the compiled code that some seed must find.
import type { Patch } from '../helpers/patched-copy.js'
import type { RoadChoice } from './options.js'

export interface Mistake extends Patch {
  title: string
  road: RoadChoice
}

export const mistakes: Mistake[] = [
  {
    title: 'a task that comes back from a dead worker is not put into the line again',
    road: 'any',
    file: 'host/dispatch/returns.js',
    edits: [['this.#line.putBack(task)', 'void task']],
  },
  {
    title: 'an answer settles a task that was cancelled before',
    road: 'lane',
    file: 'host/dispatch/lane-collector.js',
    edits: [["if (task.state === 'settled')", 'if (false)']],
  },
  {
    title: 'nobody looks into the queue when a worker has answered',
    road: 'port',
    file: 'host/dispatch/dispatcher.js',
    edits: [['this.#onRoom();\n        this.#onAnswered(worker);', 'this.#onAnswered(worker);']],
  },
  {
    title: 'a close forgets the workers that still start',
    road: 'any',
    file: 'host/workers/supervisor.js',
    edits: [['this.#end(worker, error);', 'if (worker.isReady)\n            this.#end(worker, error);']],
  },
  {
    title:
      'a worker that is to leave ends although it has begun a task, since the word that it is ready is under way',
    road: 'any',
    file: 'host/workers/supervisor.js',
    edits: [["worker.state === 'spawning' && worker.holding.isEmpty", "worker.state === 'spawning'"]],
  },
  {
    title: 'a listener stays on the signal of a task that is settled',
    road: 'any',
    file: 'host/task/signal-watch.js',
    edits: [["signal.removeEventListener('abort', watched.onAbort)", 'void watched']],
  },
  {
    title: 'a timer is left when the pool closes',
    road: 'any',
    file: 'host/workers/starts.js',
    edits: [['this.#afterPause?.cancel();', '']],
  },
  {
    title: 'a result whose task is cancelled is read on',
    road: 'lane',
    file: 'host/dispatch/dispatcher.js',
    edits: [['this.#arrivals.drop(task);', '']],
  },
  {
    title: 'a collection of the nursery does not get on with slices of no length',
    road: 'lane',
    file: 'host/dispatch/nursery.js',
    edits: [['while (this.#fillersLeft > 0) {', 'while (this.#fillersLeft > 0 && mayGoOn()) {']],
  },
  {
    title: 'the end of a pool forgets the results that are being read',
    road: 'lane',
    file: 'host/pool/closing.js',
    edits: [
      ['dispatcher.rejectArriving(error);\n        const stopped', 'const stopped'],
      ['dispatcher.rejectArriving(error);\n        cancellation', 'cancellation'],
    ],
  },
]

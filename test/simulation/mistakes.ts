// Mistakes in the host or in a worker. Each is a change to the compiled code that some seed must find.
import type { Patch } from '../helpers/patched-copy.js'
import type { TransportChoice } from './options.js'

export interface Mistake extends Patch {
  title: string
  transport: TransportChoice
}

export const mistakes: Mistake[] = [
  {
    title: 'a task that comes back from a dead worker is not put back into the queue',
    transport: 'any',
    file: 'host/scheduler/requeue.js',
    edits: [['this.#pending.putBack(task)', 'void task']],
  },
  {
    title: 'an answer settles a cancelled task',
    transport: 'shared-memory',
    file: 'host/lane/collect.js',
    edits: [["if (task.state === 'settled')", 'if (false)']],
  },
  {
    title: 'the host does not look into its queue when a worker has answered',
    transport: 'messages',
    file: 'host/scheduler/scheduler.js',
    edits: [['this.#onRoom();\n        this.onAnswered(worker);', 'this.onAnswered(worker);']],
  },
  {
    title: 'a close forgets workers that are starting',
    transport: 'any',
    file: 'host/workers/worker-group.js',
    edits: [['worker.stop(error);', 'if (worker.isReady)\n            worker.stop(error);']],
  },
  {
    title:
      'a leaving worker ends although it has started a task, because its message that it is ready is on its way',
    transport: 'any',
    file: 'host/workers/worker.js',
    edits: [["this.state === 'spawning' && this.tasks.isEmpty", "this.state === 'spawning'"]],
  },
  {
    title: 'a listener stays on the signal of a settled task',
    transport: 'any',
    file: 'host/task/signal-watch.js',
    edits: [["signal.removeEventListener('abort', watched.onAbort)", 'void watched']],
  },
  {
    title: 'a timer stays set when the pool closes',
    transport: 'any',
    file: 'host/workers/worker-group.js',
    edits: [['this.#afterPause?.cancel();', '']],
  },
  {
    title: 'the host decodes the large result of a cancelled task to its end',
    transport: 'shared-memory',
    file: 'host/scheduler/scheduler.js',
    edits: [['largeResults.drop(task);', '']],
  },
  {
    title: 'a collection of the new space does not go on in slices of no length',
    transport: 'shared-memory',
    file: 'host/lane/new-space.js',
    edits: [['while (this.#fillersLeft > 0) {', 'while (this.#fillersLeft > 0 && mayGoOn()) {']],
  },
  {
    title: 'the end of a pool forgets the results that are being decoded',
    transport: 'shared-memory',
    file: 'host/pool/shutdown.js',
    edits: [
      ['scheduler.rejectDecoding(error);\n        const stopped', 'const stopped'],
      ['scheduler.rejectDecoding(error);\n        cancellation', 'cancellation'],
    ],
  },
  {
    title: 'a worker claims a later task while a task that was sent to it is on its way',
    transport: 'shared-memory',
    file: 'shared/lane/shared-queue.js',
    edits: [['if (this.#state.isTaskOnItsWay)', 'if (false)']],
  },
  {
    title: 'a claimed task fails as unreadable because it is not in the list of sent tasks',
    transport: 'shared-memory',
    file: 'host/lane/collect.js',
    edits: [["task.addressee === worker.id || posted.tickets.phaseOf(task.ticket) === 'answered'", 'true']],
  },
  {
    title: 'a task fails as unreadable although the host has sent it again meanwhile',
    transport: 'any',
    file: 'host/lane/posted-tasks.js',
    edits: [['this.suspects.delete(task);', ';']],
  },
  {
    title: 'no worker starts for a waiting task when the pause after a failed start is over',
    transport: 'any',
    file: 'host/workers/worker-group.js',
    edits: [['this.taskListener.onPauseOver();', ';']],
  },
  {
    title: 'a task that has a slot of a starting worker counts against the limit of a bounded queue',
    transport: 'messages',
    file: 'host/scheduler/scheduler.js',
    edits: [['this.#pending.reserve(this.#startingSlots);', ';']],
  },
  {
    title: 'a worker starts a sent task that the host has taken back',
    transport: 'messages',
    file: 'worker/lane/task-source.js',
    edits: [
      [
        'if (!this.#tickets.startAddressed(ticket, offer, taskId, this.#workerId))\n            return;',
        'this.#tickets.startAddressed(ticket, offer, taskId, this.#workerId);',
      ],
    ],
  },
  {
    title: 'a worker that leaves does not run a task that was moved to it',
    transport: 'messages',
    file: 'worker/lane/task-source.js',
    edits: [['!this.#isLeaving || message.mustRun ||', '!this.#isLeaving ||']],
  },
  {
    title: 'the host posts a ticket again while the handler of its cancelled task runs',
    transport: 'any',
    file: 'host/lane/recall.js',
    edits: [['this.#posted.keepCancelled(task);', 'this.#posted.remove(task);']],
  },
]

// Mistakes in the host or in a worker. Each is a change to the compiled code that a seed must find.
import type { Patch } from '../helpers/patched-copy.js'
import type { TransportChoice } from './options.js'

export interface Mistake extends Patch {
  title: string
  transport: TransportChoice
  /** Where the search begins, for a mistake that few seeds show. */
  firstSeed?: number
}

export const mistakes: Mistake[] = [
  {
    title: 'the host does not requeue a task that a dead worker had not started',
    transport: 'any',
    file: 'host/scheduler/requeue.js',
    edits: [['this.#pending.putBack(task)', 'void task']],
  },
  {
    title: 'an answer settles a cancelled task',
    transport: 'shared-memory',
    file: 'host/lane/collect.js',
    edits: [["if (task.state !== 'settled')", 'if (true)']],
  },
  {
    title: 'the host does not place queued tasks when a worker has answered',
    transport: 'messages',
    file: 'host/scheduler/task-events.js',
    edits: [['this.#parts.pump.refill();\n        this.onAnswered(worker);', 'this.onAnswered(worker);']],
  },
  {
    title: 'close() does not stop workers that are starting',
    transport: 'any',
    file: 'host/workers/worker-group.js',
    edits: [
      ["worker.stop('close', error);", "if (worker.isReady)\n            worker.stop('close', error);"],
    ],
  },
  {
    title: 'a leaving worker stops although it has started a task, while its ready message is on its way',
    transport: 'any',
    file: 'host/workers/worker.js',
    edits: [['isStarting && this.isEmpty', 'isStarting']],
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
    file: 'host/workers/starts.js',
    edits: [['this.#afterPause?.cancel();', '']],
  },
  {
    title: 'the host decodes all of the large result of a cancelled task',
    transport: 'shared-memory',
    firstSeed: 900,
    file: 'host/scheduler/cancel.js',
    edits: [['largeResults.drop(task);', '']],
  },
  {
    title: 'a cancelled task frees its key while its handler runs',
    transport: 'any',
    file: 'host/task/task-ends.js',
    edits: [['if (!this.isPosted(task) && !this.mayRun(task))', 'if (true)']],
  },
  {
    title: 'a task of a killed worker frees its key before the worker has ended',
    transport: 'any',
    file: 'host/task/task-ends.js',
    edits: [['this.#killed.set(task, workerId);', ';']],
  },
  {
    title: 'a group at its limit starts another task',
    transport: 'any',
    file: 'host/queue/group-queue.js',
    edits: [
      ['const isAtLimit = group.running >= this.#limit;', 'const isAtLimit = group.running > this.#limit;'],
    ],
  },
  {
    title: 'a task loses its key when it runs again',
    transport: 'any',
    file: 'host/scheduler/requeue.js',
    edits: [
      ['this.#traced.onAgain(task);', 'this.#traced.onAgain(task);\n        this.#pending.onOver(task);'],
    ],
  },
  {
    title: 'a collection of the new space does not continue in slices of 0 ms',
    transport: 'shared-memory',
    file: 'host/lane/new-space.js',
    edits: [['while (this.#fillersLeft > 0) {', 'while (this.#fillersLeft > 0 && mayGoOn()) {']],
  },
  {
    title: 'a closing pool does not reject the tasks whose results are being decoded',
    transport: 'shared-memory',
    file: 'host/engine/close.js',
    edits: [
      ['cancelling.rejectDecoding(error);\n        const stopped', 'const stopped'],
      ['cancelling.rejectDecoding(error);\n        cancelTriggers', 'cancelTriggers'],
    ],
  },
  {
    title: 'a worker claims a later task while a task that was sent to it is on its way',
    transport: 'shared-memory',
    file: 'shared/lane/lane-queue.js',
    edits: [['if (this.#state.isTaskOnItsWay && ', 'if (false && ']],
  },
  {
    title: 'a claimed task fails as unreadable because it is not in the list of sent tasks',
    transport: 'shared-memory',
    file: 'host/lane/collect.js',
    edits: [["task.addressee === worker.id || posted.tickets.phaseOf(task.ticket) === 'answered'", 'true']],
  },
  {
    title: 'a task fails as unreadable although the host has sent it again',
    transport: 'messages',
    firstSeed: 210,
    file: 'host/lane/posted-tasks.js',
    edits: [['this.suspects.delete(task);', ';']],
  },
  {
    title: 'no worker starts for a queued task after the pause of a failed start',
    transport: 'any',
    file: 'host/workers/worker-group.js',
    edits: [['this.taskListener.onPauseOver();', ';']],
  },
  {
    title: 'a task with a slot of a starting worker counts against maxQueue',
    transport: 'messages',
    firstSeed: 1900,
    file: 'host/scheduler/pump.js',
    edits: [['this.#pending.reserve(this.#slots.ofStarting);', ';']],
  },
  {
    title: 'a worker starts a sent task that the host took back',
    transport: 'messages',
    file: 'worker/lane/task-source.js',
    edits: [
      [
        'if (!this.#tickets.startAddressed(ticket, messageNumber, taskId, this.#workerId))\n            return;',
        'this.#tickets.startAddressed(ticket, messageNumber, taskId, this.#workerId);',
      ],
    ],
  },
  {
    title: 'a leaving worker does not run a task that was moved to it',
    transport: 'messages',
    firstSeed: 430,
    file: 'worker/lane/task-source.js',
    edits: [['!this.#isLeaving || message.mustRun ||', '!this.#isLeaving ||']],
  },
  {
    title: 'the host posts a ticket again while the handler of its cancelled task runs',
    transport: 'any',
    firstSeed: 80,
    file: 'host/lane/recall.js',
    edits: [['this.#posted.keepCancelled(task);', 'this.#posted.remove(task);']],
  },
  {
    title: 'the answer overtakes the newest progress',
    transport: 'any',
    file: 'worker/lane/answers.js',
    edits: [
      ['if (mayAnswer)\n                this.#progress.flush(task);', 'if (mayAnswer)\n                ;'],
    ],
  },
  {
    title: 'the host never takes a lent slot back',
    transport: 'any',
    file: 'host/lane/task-messages.js',
    edits: [['posted.slots.takeBack(this.#task, lender);', ';']],
  },
  {
    title: 'the only slot of a worker is lent to any task',
    transport: 'shared-memory',
    file: 'worker/lane/answers.js',
    edits: [['if (this.#slots > 1 && !task.isExclusive &&', 'if (!task.isExclusive &&']],
  },
  {
    title: 'a task of a waiting task waits behind the queue',
    transport: 'any',
    firstSeed: 1670,
    file: 'host/scheduler/pump.js',
    edits: [['this.lending.lend();', ';']],
  },
  {
    title: 'a full worker does not start the task for which its task waits',
    transport: 'any',
    firstSeed: 30,
    file: 'worker/lane/task-source.js',
    edits: [['lenderId > 0 &&', 'false &&']],
  },
  {
    title: 'a lent slot is free again although its task runs',
    transport: 'any',
    firstSeed: 30,
    file: 'host/lane/lent-slots.js',
    edits: [['lender.borrower = task;', ';']],
  },
  {
    title: 'the host drops the last chunks and the progress of a worker that it stops',
    transport: 'any',
    file: 'shared/messages/messages.js',
    edits: [["'from-task': { by: 'tasks', isLate: true }", "'from-task': { by: 'tasks' }"]],
  },
]

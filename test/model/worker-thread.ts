// The thread of a worker: the real task source, executor and answers, on a port of the model. Its handlers answer with a number.
import {
  type HostPort,
  kindOf,
  type LaneOrder,
  type MessageToTasks,
  type ToHost,
  type ToWorker,
} from '../../src/shared/messages/messages.js'
import { PipedTickets } from '../../src/worker/lane/piped-tickets.js'
import { TaskSource } from '../../src/worker/lane/task-source.js'
import type { WorkerTask } from '../../src/worker/lane/worker-task.js'
import { Executor } from '../../src/worker/run/executor.js'
import { beClockOfThread, ThreadClock } from './clock.js'
import type { Script, Self } from './history.js'
import { ANSWER } from './host-thread.js'
import type { Plan } from './plan.js'

/** The promise of a handler. The model settles it. */
class Waited {
  resolve: (value: unknown) => void = () => {}

  then(onFulfilled: (value: unknown) => void): void {
    this.resolve = onFulfilled
  }
}

interface Waiting {
  readonly task: WorkerTask
  readonly promise: Waited
}

export function workerThread(plan: Plan, orders: Map<number, LaneOrder>): Script {
  return self => {
    const clock = new ThreadClock(plan.busyWaits ? 1 : 0, 1)
    beClockOfThread(clock)
    const running: Waiting[] = []
    /** Tasks that wait for a function of their caller. */
    const asking = new Map<number, Waiting>()
    /** The ids of calls count on when the model runs this function again, so other threads do not see them. */
    const callIds = new Map<number, number>()
    let starting!: WorkerTask
    const finish = ({ taskId }: WorkerTask): number => {
      self.note({ kind: 'finished', task: taskId })
      return ANSWER + taskId
    }
    const handle = (payload: unknown): unknown => {
      const task = starting
      const waiting = { task, promise: new Waited() }
      self.note({ kind: 'started', task: task.taskId })
      if (Number(payload) !== task.taskId) throw new Error(`task ${task.taskId} has the payload ${payload}`)
      const { isSlow, asksFor } = plan.tasks[task.taskId - 1]!
      if (asksFor === undefined && isSlow !== true) return finish(task)
      if (asksFor === undefined) running.push(waiting)
      else {
        asking.set(task.taskId, waiting)
        void task.link.call('ask', [])
      }
      return waiting.promise
    }
    const answer = ({ task, promise }: Waiting) => promise.resolve(finish(task))
    const real = new Executor({
      origin: { pool: { id: 1, label: 'model' }, workerId: self.number },
      threadId: self.number,
      loader: { load: () => Promise.reject(new Error('the handler is loaded')), hasFailedAgain: () => false },
      onStale() {},
      onEnd() {},
      flush: () => undefined,
      settled: (promise, onFulfilled) => (promise as Waited).then(onFulfilled),
      defer: callback => callback(),
    })
    const executor = {
      run(task: WorkerTask) {
        real.add(task.handlerId, task.handler, handle)
        starting = task
        real.run(task)
      },
    } as Executor
    const say = (message: ToHost) => {
      if (message === 'bell' || message.kind !== 'from-task' || message.body.kind !== 'call')
        return self.post(0, message)
      callIds.set(message.taskId, message.body.callId)
      self.post(0, { ...message, body: { ...message.body, callId: 0 } })
    }
    const port = { postMessage: say } as unknown as HostPort
    const source = new TaskSource(port, orderFor(plan, self, orders.get(self.number)!), executor)
    // The host already knows that the first workers are ready.
    if (self.number > plan.workers) say({ kind: 'ready' })
    source.open()
    for (;;) {
      const own = clock.events
      for (const waiting of running) {
        own.set(`finishes the handler of task ${waiting.task.taskId}`, () => {
          running.splice(running.indexOf(waiting), 1)
          answer(waiting)
        })
      }
      const event = self.next([...own.keys()])
      if (event.kind === 'own') [...own.values()][event.index]!()
      else if (event.kind === 'message') {
        const message = event.message as ToWorker
        const kind = kindOf(message)
        if (kind === 'exit' || kind === 'stop') self.end()
        if (kind === 'leave') {
          source.leave()
          say({ kind: 'leaving' })
          source.resume()
        }
        const answered = message !== 'bell' && message.kind === 'to-task' ? message.taskId : 0
        const passed: MessageToTasks =
          answered === 0
            ? (message as MessageToTasks)
            : {
                kind: 'to-task',
                taskId: answered,
                body: { kind: 'call-answer', callId: callIds.get(answered)!, value: 0 },
              }
        if (kind !== 'leave') source.onMessage(passed)
        for (const [taskId, waiting] of asking) {
          if (taskId !== answered && !waiting.task.isCancelled) continue
          asking.delete(taskId)
          answer(waiting)
        }
      }
    }
  }
}

function orderFor({ transport }: Plan, self: Self, order: LaneOrder) {
  if (transport !== 'pipe') return order
  const { memory: _memory, state: _state, usesLaneQueue: _usesLaneQueue, ...pipedOrder } = order
  const tickets = new PipedTickets((report, ticket, taskId) =>
    self.post(0, { kind: 'report', report, ticket, taskId }),
  )
  return { ...pipedOrder, tickets }
}

// A worker's thread: the real intake and answers, on a port that the model carries, with handlers that answer a number.
import type { MessagePort } from 'node:worker_threads'
import { kindOf } from '../../src/shared/messages/kind-of.js'
import type { ToHost, ToWorker } from '../../src/shared/messages/messages.js'
import type { Executor } from '../../src/worker/executor.js'
import type { LaneAssignment } from '../../src/worker/lane-assignment.js'
import { LaneIntake } from '../../src/worker/lane-intake.js'
import { beClockOfThread, ThreadClock } from './clock.js'
import type { Script } from './history.js'
import { ANSWER, type LaneOrder } from './host-thread.js'
import type { Plan } from './plan.js'

export function workerThread(plan: Plan, orders: Map<number, LaneOrder>): Script {
  return self => {
    const clock = new ThreadClock(plan.looksOut ? 1 : 0, 1)
    beClockOfThread(clock)
    const running: LaneAssignment[] = []
    const answer = (task: LaneAssignment) => task.succeed(ANSWER + task.taskId)
    const executor = {
      run(task: LaneAssignment) {
        self.note({ kind: 'begun', task: task.taskId })
        if (task.payload !== task.taskId)
          throw new Error(`task ${task.taskId} came with payload ${task.payload}`)
        if (plan.tasks[task.taskId - 1]!.isSlow) running.push(task)
        else answer(task)
      },
    } as unknown as Executor
    const say = (message: ToHost) => self.post(0, message)
    const port = { postMessage: say } as unknown as MessagePort
    const intake = new LaneIntake(port, orders.get(self.number)!, executor)
    // The host knows of the first ones already.
    if (self.number > plan.workers) say({ kind: 'ready' })
    intake.open()
    for (;;) {
      const own = clock.events
      for (const task of running) {
        own.set(`its handler is done with task ${task.taskId}`, () => {
          running.splice(running.indexOf(task), 1)
          answer(task)
        })
      }
      const event = self.next([...own.keys()])
      if (event.kind === 'own') [...own.values()][event.index]!()
      else if (event.kind === 'message') {
        const message = event.message as ToWorker
        if (['stop', 'end'].includes(kindOf(message))) self.end()
        intake.onMessage(message)
      }
    }
  }
}

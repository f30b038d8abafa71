// Builds the parts of a pool and connects them. Only this file knows how they fit together.
import { HostBell } from '../../shared/lane/doorbell.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Backend } from '../backend/backend.js'
import { Answers } from '../lane/answers.js'
import { Collector } from '../lane/collect.js'
import { HandlerRegistry } from '../lane/handler-registry.js'
import { LargeResults } from '../lane/large-results.js'
import { ResultPoller } from '../lane/poll-results.js'
import { Poster } from '../lane/post.js'
import { PostedTasks, ticketsFor } from '../lane/posted-tasks.js'
import { Recall } from '../lane/recall.js'
import { WorkerWaker } from '../lane/wake-workers.js'
import type { Outcome } from '../metrics/counters.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Timings } from '../metrics/timings.js'
import { RunningCancelled } from '../scheduler/cancellation.js'
import { PendingTasks } from '../scheduler/pending-tasks.js'
import { Requeue } from '../scheduler/requeue.js'
import { Scheduler } from '../scheduler/scheduler.js'
import { Cancellation } from '../task/cancellation.js'
import { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import type { WorkerEvents } from '../workers/worker.js'
import { WorkerGroup } from '../workers/worker-group.js'
import type { CoreSettings } from './options.js'
import { usesSharedMemory } from './transport.js'

/** The events of the parts that concern the pool. */
export interface CoreEvents extends WorkerEvents {
  onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void
  /** Tasks have left the queue or the workers. */
  onLeft(): void
  /** No handler of a cancelled task runs any more. */
  onNoneCancelled(): void
}

export interface Core {
  handlers: HandlerRegistry
  posted: PostedTasks
  settler: Settler
  cancellation: Cancellation
  group: WorkerGroup
  scheduler: Scheduler
}

export interface CoreParts {
  settings: CoreSettings
  backend: Backend
  clock: Clock
  timings: Timings | null
  handlerMetrics: HandlerMetrics | null
  /** For tests: how long large results are decoded in one turn. */
  decodeSliceMs?: number | undefined
  /** For tests: how many tasks can be posted at once. */
  tickets?: number | undefined
  events: CoreEvents
}

export function createCore(parts: CoreParts): Core {
  const { settings, backend, clock, timings, handlerMetrics, decodeSliceMs, tickets, events } = parts
  const { concurrentTasksPerWorker: slotsPerWorker, errorClasses, loadBalancer = null, size } = settings
  const isShared = usesSharedMemory(settings)
  const canTakeBack = settings.backend !== 'process'

  const handlers = new HandlerRegistry()
  if (settings.handler !== null) {
    handlers.add({ handlerId: handlers.numberOf(settings.handler), handler: settings.handler })
  }
  const posted = new PostedTasks(tickets ?? ticketsFor(size.maxWorkers, slotsPerWorker), slotsPerWorker)
  const settler = new Settler(events)
  const pending = new PendingTasks(settings.queue, failure => events.onError(failure))
  const lane = { posted, handlers, isShared, slotsPerWorker }
  const group = new WorkerGroup({ ...settings, preload: settings.handler, lane }, backend, clock, events)

  const recall = new Recall(posted, canTakeBack)
  const requeue = new Requeue(recall, pending, settler)
  const largeResults = new LargeResults({ clock, settler, sliceMs: decodeSliceMs, onRead: events.onLeft })
  const answers = new Answers({
    settler,
    largeResults,
    policy: group.policy,
    handlers,
    timings,
    failed: requeue.failed,
    runAgain: task => requeue.runAgain(task),
    errorClasses,
  })
  const poster = new Poster(posted, handlers, settler, clock, handlerMetrics)
  const waker = isShared ? new WorkerWaker(clock, group, posted, slotsPerWorker) : null
  const collector: Collector = new Collector({
    clock,
    group,
    answers,
    posted,
    handlers,
    waker,
    handlerMetrics,
    onAnswered: worker => scheduler.onAnswered(worker),
    onCollected: () => scheduler.onCollected(),
  })
  const poller = isShared
    ? new ResultPoller({ clock, bell: new HostBell(posted.layout), group, posted, collector, slotsPerWorker })
    : null
  const cancelled = new RunningCancelled({
    clock,
    recall,
    graceMs: settings.cancelGrace,
    onNone: events.onNoneCancelled,
  })
  const scheduler: Scheduler = new Scheduler({
    clock,
    group,
    settler,
    handlerMetrics,
    pending,
    posted,
    poster,
    collector,
    recall,
    requeue,
    largeResults,
    cancelled,
    waker,
    poller,
    loadBalancer,
    slotsPerWorker,
    canTakeBack,
    onLeft: events.onLeft,
  })
  group.taskListener = scheduler
  const cancellation = new Cancellation({
    clock,
    progressOf: (task, now) => scheduler.progressOf(task, now),
    cancel: (task, error, onlyWaiting) => scheduler.cancel(task, error, onlyWaiting),
  })
  return { handlers, posted, settler, cancellation, group, scheduler }
}

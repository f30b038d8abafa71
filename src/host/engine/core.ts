// Creates the scheduler, the lane and the workers of a pool, and connects them. `Engine` adds the other parts: statistics,
// back-pressure, keep-alive and shutdown.
import type { PoolIdentity } from '../../api/channels.js'
import type { AdaptStart } from '../../api/pool-options.js'
import { HostBell } from '../../shared/lane/doorbell.js'
import { watchLargeBuffers } from '../../shared/platform/allocator.js'
import type { Clock } from '../../shared/platform/clock.js'
import { isMainThread } from '../../shared/platform/host-node-modules.js'
import type { Backend } from '../backend/backend.js'
import { Answers } from '../lane/answers.js'
import { Collector } from '../lane/collect.js'
import { HandlerRegistry } from '../lane/handler-registry.js'
import { LargeResults } from '../lane/large-results.js'
import { Payloads } from '../lane/payloads.js'
import { ResultPoller } from '../lane/poll-results.js'
import { Poster } from '../lane/post.js'
import { PostedTasks, ticketsFor } from '../lane/posted-tasks.js'
import { Recall } from '../lane/recall.js'
import { TaskMessages } from '../lane/task-messages.js'
import { WorkerWaker } from '../lane/wake-workers.js'
import type { DurationMetrics } from '../metrics/duration-metrics.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { HandlerTasks } from '../metrics/handler-tasks.js'
import type { Outcome } from '../metrics/task-metrics.js'
import type { CoreSettings } from '../options/settings.js'
import { usesSharedMemory } from '../options/transport.js'
import type { GroupQueue } from '../queue/group-queue.js'
import { Cancelling } from '../scheduler/cancel.js'
import { GracePeriods } from '../scheduler/grace-period.js'
import { PendingTasks } from '../scheduler/pending.js'
import { Pump } from '../scheduler/pump.js'
import { Requeue } from '../scheduler/requeue.js'
import { TaskEvents } from '../scheduler/task-events.js'
import { WaitingTasks } from '../scheduler/waiting.js'
import { CancelTriggers } from '../task/cancel-triggers.js'
import { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import { TaskEnds } from '../task/task-ends.js'
import { TracedTasks } from '../task/traced-tasks.js'
import { KeyWorkers } from '../workers/key-workers.js'
import { StartCalls } from '../workers/start-calls.js'
import type { WorkerEvents } from '../workers/worker.js'
import { WorkerGroup } from '../workers/worker-group.js'

/** The events that the parts report to the engine. */
export interface CoreEvents {
  onSettled(task: Task, outcome: Outcome, wasAssigned: boolean): void
  /** Tasks have left the queue or the workers. */
  onLeft(): void
  /** How many accepted tasks have not settled. */
  pendingTasks(): number
  /** The last handler of a cancelled task has ended. */
  onNoneCancelled(): void
}

export interface Core {
  handlers: HandlerRegistry
  posted: PostedTasks
  payloads: Payloads
  settler: Settler
  traced: TracedTasks
  cancelTriggers: CancelTriggers
  group: WorkerGroup
  requeue: Requeue
  pump: Pump
  cancelling: Cancelling
  gracePeriods: GracePeriods
  largeResults: LargeResults
  startCalls: StartCalls
  waiting: WaitingTasks
  /** `null` without the option `groups`. */
  groups: GroupQueue | null
}

export interface CoreParts {
  settings: CoreSettings
  backend: Backend
  clock: Clock
  identity: PoolIdentity
  handlerTasks: HandlerTasks
  durationMetrics: DurationMetrics | null
  handlerMetrics: HandlerMetrics | null
  adaptStart?: AdaptStart | null
  /** For tests: how long one slice of decoding may take. */
  decodeSliceMs?: number | undefined
  /** For tests: how many tasks can be posted at the same time. */
  tickets?: number | undefined
  workerEvents: WorkerEvents
  events: CoreEvents
}

export function createCore(parts: CoreParts): Core {
  const {
    settings,
    backend,
    clock,
    identity,
    handlerTasks,
    durationMetrics,
    handlerMetrics,
    decodeSliceMs,
    tickets,
    workerEvents,
    events,
  } = parts
  const { concurrentTasksPerWorker: slotsPerWorker, errorClasses, loadBalancer = null, size } = settings
  const usesLaneQueue = usesSharedMemory(settings)
  const canTakeBack = settings.backend !== 'process'
  if (usesLaneQueue && isMainThread) watchLargeBuffers()

  const handlers = new HandlerRegistry()
  if (settings.handler !== null) {
    handlers.add({ handlerId: handlers.numberOf(settings.handler), handler: settings.handler })
  }
  const ends = new TaskEnds()
  const posted = new PostedTasks(tickets ?? ticketsFor(size.maxWorkers, slotsPerWorker), slotsPerWorker, ends)
  ends.isPosted = task => posted.has(task)
  const traced = new TracedTasks(identity)
  const settler = new Settler(events, traced, ends)
  const pending = new PendingTasks(settings.queue, ends, failure => workerEvents.onError(failure))
  const { groups } = pending
  if (groups !== null) groups.clock = clock
  const yieldsCore = settings.busyWait !== true
  const payloads: Payloads = new Payloads({
    posted,
    handlers,
    usesLaneQueue,
    isForProcesses: settings.backend === 'process',
    keepsGiven: pending.isOfProgram || loadBalancer !== null,
    tellWorkers: message => {
      for (const worker of group.workers) worker.link.post(message)
    },
    now: () => clock.now(),
    pendingTasks: events.pendingTasks,
  })
  const lane = { posted, handlers, payloads, usesLaneQueue, yieldsCore }
  const startCalls = new StartCalls(payloads, failure => workerEvents.onError(failure))
  const workerSettings = {
    ...settings,
    adaptStart: parts.adaptStart ?? null,
    preload: settings.handler,
    pool: identity,
    startCalls,
    lane,
  }
  const group: WorkerGroup = new WorkerGroup(workerSettings, backend, clock, workerEvents)
  posted.slots.connect(group, pending, canTakeBack)
  payloads.holdWorkerData(settings.workerOptions.workerData)

  const keyWorkers = new KeyWorkers(group)
  const recall = new Recall(posted, payloads, canTakeBack, clock)
  const requeue = new Requeue(recall, pending, settler, traced)
  const largeResults = new LargeResults({ clock, settler, sliceMs: decodeSliceMs, onDecoded: events.onLeft })
  const answers = new Answers({
    settler,
    largeResults,
    policy: group.starts.policy,
    handlers,
    handlerTasks,
    durationMetrics,
    failed: requeue.failed,
    runAgain: task => requeue.runAgain(task),
    errorClasses,
    traced,
    keyWorkers,
    groups,
  })
  const poster = new Poster({ posted, handlers, payloads, settler, clock, handlerMetrics })
  const waker = usesLaneQueue ? new WorkerWaker(clock, group, posted, settings.cores) : null
  const collector: Collector = new Collector({
    clock,
    group,
    answers,
    posted,
    handlers,
    waker,
    handlerMetrics,
    onAnswered: worker => taskEvents.onAnswered(worker),
    onCollected: () => pump.refill(),
  })
  const taskMessages = new TaskMessages({
    clock,
    posted,
    settler,
    cancel: (task, error) => cancelling.cancel(task, error),
    onSlotLent: () => pump.refill(),
  })
  const poller = usesLaneQueue
    ? new ResultPoller({
        clock,
        bell: new HostBell(posted.layout),
        group,
        posted,
        collector,
        yieldsCore,
      })
    : null
  const gracePeriods = new GracePeriods({
    clock,
    recall,
    graceMs: settings.cancelGrace,
    onNone: events.onNoneCancelled,
  })
  const { onLeft } = events
  const pump: Pump = new Pump({
    clock,
    group,
    settler,
    pending,
    posted,
    payloads,
    poster,
    recall,
    requeue,
    waker,
    poller,
    loadBalancer,
    keyWorkers,
    canTakeBack,
    onLeft,
  })
  pending.onResumed = task => pump.resume(task)
  const cancelling: Cancelling = new Cancelling({
    clock,
    group,
    settler,
    traced,
    posted,
    recall,
    largeResults,
    gracePeriods,
    pump,
    canTakeBack,
    onLeft,
  })
  const taskEvents: TaskEvents = new TaskEvents({
    clock,
    group,
    collector,
    taskMessages,
    handlerMetrics,
    requeue,
    gracePeriods,
    pump,
    poller,
    onLeft,
  })
  group.taskListener = taskEvents
  const cancelTriggers = new CancelTriggers({
    clock,
    progressOf: (task, now) => cancelling.progressOf(task, now),
    cancel: (task, error, onlyUnstarted) => cancelling.cancel(task, error, onlyUnstarted),
  })
  return {
    handlers,
    posted,
    payloads,
    settler,
    traced,
    cancelTriggers,
    group,
    requeue,
    pump,
    cancelling,
    gracePeriods,
    largeResults,
    startCalls,
    waiting: new WaitingTasks({ clock, group, posted, pending, pump, loadBalancer }),
    groups,
  }
}

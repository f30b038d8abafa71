// Plausible mistakes in the lane. Each is a change to the compiled code, with a case that must find it.
import type { Patch } from '../helpers/patched-copy.js'
import type { Plan } from './plan.js'

export interface Mistake extends Patch {
  title: string
  /** `ring` and `bell` name the cases in `ring-case.ts` and `bell-case.ts`. */
  plan: Omit<Plan, 'title'> | 'ring' | 'bell'
}

const oneTask = { isFine: true, workers: 1, tasks: [{}], requests: [[{ submit: 1 }]] }
const cancelled = {
  isFine: true,
  workers: 1,
  tasks: [{ isExclusive: true }],
  requests: [[{ submit: 1 }], [{ cancel: 1 }]],
}
const replaced = {
  isFine: true,
  workers: 1,
  tasks: [{ isExclusive: true }, {}],
  requests: [[{ submit: 1 }], [{ cancel: 1 }, { submit: 2 }]],
}
const asking = {
  workers: 1,
  ahead: 1,
  tasks: [{ asksFor: 2 }, {}, {}],
  requests: [[{ submit: 1 }, { submit: 3 }]],
  switches: 0,
}
const finishes = {
  isFine: true,
  workers: 1,
  tasks: [{ isSlow: true }, {}],
  requests: [[{ submit: 1 }], [{ cancel: 1 }, { submit: 2 }]],
  graceMs: Number.POSITIVE_INFINITY,
  switches: 1,
}
const killed = { isFine: true, workers: 1, tasks: [{}], requests: [[{ submit: 1 }], [{ kill: 1 }]] }

const sent = { workers: 1, tasks: [{ isDeclined: true }], requests: [[{ submit: 1 }]] }
const sentAndCancelled = { ...sent, requests: [[{ submit: 1 }], [{ cancel: 1 }]] }
const sentAndReplaced = {
  workers: 1,
  tasks: [{ isDeclined: true }, { isDeclined: true }],
  requests: [[{ submit: 1 }], [{ cancel: 1 }, { submit: 2 }]],
  switches: 1,
}

export const mistakes: Mistake[] = [
  {
    title: 'a worker does not check the queue again after it announced that it sleeps',
    file: 'worker/lane/task-source.js',
    edits: [['if (reader.isEmpty && ', 'if (']],
    plan: { ...oneTask, startsAwake: true },
  },
  {
    title: 'a worker does not check its inbox again after it announced that it sleeps',
    file: 'worker/lane/task-source.js',
    edits: [[' && !this.#isTaskOnItsWay)', ')']],
    plan: { ...oneTask, tasks: [{ key: 'a' }], startsAwake: true },
  },
  {
    title: 'the host does not ring for a worker that sleeps beside a task in its inbox',
    file: 'host/lane/post.js',
    edits: [['if (worker.tasks.bell.ring())', 'if (false)']],
    plan: { ...oneTask, tasks: [{ key: 'a' }] },
  },
  {
    title: 'the host forgets the tasks in the inbox of a worker that dies',
    file: 'host/lane/recall.js',
    edits: [['of this.#posted.inInboxOf(worker.id)', 'of []']],
    plan: {
      workers: 1,
      ahead: 2,
      tasks: [{ key: 'a' }, { key: 'a' }],
      requests: [[{ submit: 1 }, { submit: 2 }]],
      deaths: 1,
      switches: 1,
    },
  },
  {
    title: 'a worker starts a task of its inbox before an earlier task of the queue',
    file: 'shared/lane/lane-queue.js',
    edits: [
      ['if (this.#state.isTaskOnItsWay && !this.#precedesInbox(head))', 'if (this.#state.isTaskOnItsWay)'],
      ['this.#precedesInbox(head)) {\n', 'false) {\n'],
    ],
    plan: {
      workers: 1,
      ahead: 3,
      tasks: [{ isSlow: true }, {}, { key: 'a' }],
      requests: [[{ submit: 1 }], [{ submit: 2 }, { submit: 3 }]],
      switches: 1,
    },
  },
  {
    title: 'the host does not check the rings again after it announced that it sleeps',
    file: 'host/lane/poll-results.js',
    edits: [['if (collector.hasAnswers)', 'if (false)']],
    plan: { ...oneTask, busyWaits: true },
  },
  {
    title: 'a worker rings before it publishes an answer',
    file: 'worker/lane/answers.js',
    edits: [
      [
        'writer.ring.publish(kind, task',
        "if (writer.hostBell.ring()) this.#say('bell'); writer.ring.publish(kind, task",
      ],
      ['if (writer.hostBell.ring())\n', 'if (false)\n'],
    ],
    plan: oneTask,
  },
  {
    title: 'the host moves the tail before it offers the ticket',
    file: 'shared/lane/lane-queue.js',
    edits: [
      ['this.tickets.offer(ticket, position);', ''],
      [
        'store(words, TAIL, this.#tail);',
        'store(words, TAIL, this.#tail); this.tickets.offer(ticket, position);',
      ],
    ],
    plan: { ...oneTask, startsAwake: true },
  },
  {
    title: 'a worker claims a ticket without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(OFFERED, position), word(CLAIMED, workerId));',
        'this.#words[this.#at(ticket)] = word(CLAIMED, workerId); return true;',
      ],
    ],
    plan: { ...oneTask, workers: 2, startsAwake: true },
  },
  {
    title: 'a worker moves the head before it claims the ticket',
    file: 'shared/lane/lane-queue.js',
    edits: [['const isMine =', 'replace(words, HEAD, head, (head + 1) & POSITION_MASK); const isMine =']],
    plan: { ...oneTask, deaths: 1 },
  },
  {
    title: 'a worker does not check after a claim whether it is dismissed',
    file: 'shared/lane/lane-queue.js',
    edits: [['if (!this.#bell.isDismissed)\n', 'if (true)\n']],
    plan: killed,
  },
  {
    title: 'a dismissed worker counts a task that the host takes back',
    file: 'shared/lane/lane-queue.js',
    edits: [['this.#state.setHeld(held);\n        return DISMISSED;', 'return DISMISSED;']],
    plan: { workers: 1, tasks: [{}], requests: [[{ submit: 1 }], [{ leave: 1 }]], switches: 1 },
  },
  {
    title: 'a worker starts a task without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), word(STARTED, workerId));',
        'this.#words[this.#at(ticket)] = word(STARTED, workerId); return true;',
      ],
    ],
    plan: cancelled,
  },
  {
    title: 'a worker answers a task without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(STARTED, workerId), word(ANSWERED, workerId));',
        'this.#words[this.#at(ticket)] = word(ANSWERED, workerId); return true;',
      ],
    ],
    plan: replaced,
  },
  {
    title: 'the host uses the ticket of a cancelled task again while its handler runs',
    file: 'host/lane/recall.js',
    edits: [
      [
        'this.#posted.keepCancelled(task);',
        'this.#posted.keepCancelled(task); this.#posted.removeKept(task);',
      ],
    ],
    plan: finishes,
  },
  {
    title: 'a worker does not report that the handler of a cancelled task has ended',
    file: 'worker/lane/answers.js',
    edits: [["this.#say({ kind: 'task-ended', taskId: task.taskId, ticket: task.ticket });", '']],
    plan: finishes,
  },
  {
    title: 'a cancelled task keeps its slots after its handler has ended',
    file: 'host/lane/posted-tasks.js',
    edits: [["if (phase === 'cancelling' || phase === 'ended')", 'if (false)']],
    plan: finishes,
  },
  {
    title: 'the host takes an offered task back without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(OFFERED, position), FREE);',
        'this.#words[this.#at(ticket)] = FREE; return true;',
      ],
    ],
    plan: cancelled,
  },
  {
    title: 'a claim does not check the position of the offer',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(OFFERED, position), word(CLAIMED, workerId));',
        `const found = load(this.#words, this.#at(ticket));
        return (found & PHASE_MASK) === OFFERED && replace(this.#words, this.#at(ticket), found, word(CLAIMED, workerId));`,
      ],
    ],
    plan: {
      workers: 1,
      ahead: 1,
      tasks: [{ isExclusive: true }, {}, {}],
      requests: [
        [{ submit: 1 }, { submit: 2 }],
        [{ cancel: 1 }, { submit: 3 }],
      ],
      switches: 2,
    },
  },
  {
    title: 'the host counts a position as empty that a worker has passed',
    file: 'shared/lane/lane-queue.js',
    edits: [['if (!isPassed)', 'if (true)']],
    plan: cancelled,
  },
  {
    title: 'the host frees the room of a record before it reads the record',
    file: 'shared/lane/result-ring.js',
    edits: [
      [
        'const word = words[at + KIND];',
        'store(words, READ, (this.#read + 32 + words[at + RECORD_VALUE]) | 0); const word = words[at + KIND];',
      ],
    ],
    plan: 'ring',
  },
  {
    title: 'a worker publishes a record before it writes the record',
    file: 'shared/lane/result-ring.js',
    edits: [
      [
        'words[at + CHECK] = checkOf(this.#written, word',
        'store(words, WRITTEN, (this.#written + size) | 0); words[at + CHECK] = checkOf(this.#written, word',
      ],
    ],
    plan: 'ring',
  },
  {
    title: 'a worker still counts a task that the host took back',
    file: 'worker/lane/answers.js',
    edits: [["this.#lowerClaimed();\n        this.#say('bell');", "this.#say('bell');"]],
    plan: cancelled,
  },
  {
    title: 'a worker does not report its free slot after the host took back its claim',
    file: 'worker/lane/answers.js',
    edits: [["this.#lowerClaimed();\n        this.#say('bell');", 'this.#lowerClaimed();']],
    plan: { ...replaced, tasks: [{}, { isMoved: true }], switches: 1 },
  },
  {
    title: 'a worker starts an addressed task without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(ADDRESSED, messageNumber), word(STARTED, workerId));',
        'this.#words[this.#at(ticket)] = word(STARTED, workerId); return true;',
      ],
    ],
    plan: sentAndCancelled,
  },
  {
    title: 'the start of an addressed task does not check the number of the message',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(ADDRESSED, messageNumber), word(STARTED, workerId));',
        `const found = load(this.#words, this.#at(ticket));
        return (found & PHASE_MASK) === ADDRESSED && replace(this.#words, this.#at(ticket), found, word(STARTED, workerId));`,
      ],
    ],
    plan: sentAndReplaced,
  },
  {
    title: 'the host takes an addressed task back without compare-and-swap',
    file: 'shared/lane/ticket.js',
    edits: [
      [
        'return (state & PHASE_MASK) === ADDRESSED && replace(this.#words, this.#at(ticket), state, FREE);',
        'if ((state & PHASE_MASK) !== ADDRESSED) return false; this.#words[this.#at(ticket)] = FREE; return true;',
      ],
    ],
    plan: { ...sentAndCancelled, isFine: true },
  },
  {
    title: 'the host sends a moved payload again',
    file: 'host/scheduler/requeue.js',
    edits: [['!wasStarted && task.canBePostedAgain && this', '!wasStarted && this']],
    plan: { ...sent, tasks: [{ isMoved: true }], deaths: 1, switches: 0 },
  },
  {
    title: 'a worker claims tasks while a task that was sent to it is on its way',
    file: 'shared/lane/lane-queue.js',
    edits: [['if (this.#state.isTaskOnItsWay && ', 'if (false && ']],
    plan: {
      workers: 1,
      ahead: 2,
      tasks: [{ isDeclined: true }, {}, {}],
      requests: [[{ submit: 1 }, { submit: 2 }, { submit: 3 }]],
      startsAwake: true,
      switches: 1,
    },
  },
  {
    title: 'a worker claims a task beside an exclusive task',
    file: 'worker/lane/task-source.js',
    edits: [['>= this.#slots || this.#isExclusive', '>= this.#slots']],
    plan: {
      workers: 1,
      slots: 2,
      tasks: [{ isExclusive: true, isSlow: true }, {}],
      requests: [[{ submit: 1 }, { submit: 2 }]],
      switches: 0,
    },
  },
  {
    title: 'the host sends a task while others are offered',
    file: 'host/scheduler/pump.js',
    edits: [['|| (waker !== null && this.#lookAhead.isAnyUnclaimed)', '']],
    plan: {
      workers: 1,
      ahead: 1,
      tasks: [{}, { isDeclined: true }],
      requests: [[{ submit: 1 }, { submit: 2 }]],
      switches: 1,
    },
  },
  {
    title: 'a worker counts a task after the claim instead of before',
    file: 'shared/lane/lane-queue.js',
    edits: [
      ['this.#state.setHeld(held + 1);\n', ''],
      [
        '            return true;\n        this.#state',
        '            return this.#state.setHeld(held + 1) === undefined;\n        this.#state',
      ],
    ],
    plan: {
      isFine: true,
      workers: 2,
      tasks: [{ isSlow: true }, { isDeclined: true }],
      requests: [[{ submit: 1 }], [{ submit: 2 }]],
      startsAwake: true,
      switches: 3,
    },
  },
  {
    title: 'a worker that lost a claim does not report its free slot',
    file: 'worker/lane/task-source.js',
    edits: [['if (reader.hasLostClaim)', 'if (false)']],
    plan: { ...replaced, tasks: [{ isExclusive: true }, { isMoved: true }], switches: 1 },
  },
  {
    title: 'the host does not lower the count of sent tasks for an unsendable payload',
    file: 'host/lane/post.js',
    edits: [['worker.tasks.noteNotSent();', '']],
    plan: {
      workers: 1,
      ahead: 1,
      tasks: [{ isMoved: true, isUnsendable: true }, {}],
      requests: [[{ submit: 1 }], [{ submit: 2 }]],
      switches: 0,
    },
  },
  {
    title: 'the host does not ring for a worker that waited for an unsendable payload',
    file: 'host/lane/post.js',
    edits: [["if (worker.tasks.ring !== null)\n                worker.link.post('bell');", '']],
    plan: {
      workers: 1,
      ahead: 1,
      tasks: [{ isMoved: true, isUnsendable: true }, {}],
      requests: [[{ submit: 1 }], [{ submit: 2 }]],
      startsAwake: true,
      switches: 2,
    },
  },
  {
    title: 'the host takes a sent task back from a process that may have started it',
    file: 'host/lane/recall.js',
    edits: [["if (phase === 'addressed' && !(this.#canTakeBack || isWorkerGone))", 'if (false)']],
    plan: { ...sent, requests: [[{ submit: 1 }], [{ kill: 1 }]], transport: 'pipe' },
  },
  {
    title: 'the host does not announce its sleep again when a worker has died',
    file: 'host/scheduler/task-events.js',
    edits: [['poller?.onWorkerGone();', '']],
    plan: { ...oneTask, deaths: 1 },
  },
  {
    title: 'a worker announces its sleep without compare-and-swap',
    file: 'shared/lane/doorbell.js',
    edits: [
      [
        'return replace(this.#words, REST, AWAKE, holdsTasks ? PARKED_BUSY : PARKED);',
        `if (load(this.#words, REST) !== AWAKE) return false;
        store(this.#words, REST, holdsTasks ? PARKED_BUSY : PARKED); return true;`,
      ],
    ],
    plan: {
      workers: 1,
      ahead: 1,
      tasks: [{}, {}],
      requests: [[{ submit: 1 }], [{ kill: 1 }, { submit: 2 }]],
      switches: 1,
    },
  },
  {
    title: 'a worker announces that it is awake without compare-and-swap',
    file: 'shared/lane/doorbell.js',
    edits: [
      [
        'replace(this.#words, REST, PARKED, AWAKE)',
        '(load(this.#words, REST) === PARKED && (store(this.#words, REST, AWAKE), true))',
      ],
    ],
    plan: 'bell',
  },
  {
    title: 'the host retires a worker without compare-and-swap',
    file: 'shared/lane/doorbell.js',
    edits: [
      [
        'return replace(this.#words, REST, PARKED, RETIRED);',
        'if (load(this.#words, REST) !== PARKED) return false; store(this.#words, REST, RETIRED); return true;',
      ],
    ],
    plan: 'bell',
  },
  {
    title: 'the host retires a worker that holds tasks',
    file: 'shared/lane/doorbell.js',
    edits: [['holdsTasks ? PARKED_BUSY : PARKED', 'PARKED']],
    plan: 'bell',
  },
  {
    title: 'the host does not ring for a worker that sleeps with tasks',
    file: 'shared/lane/doorbell.js',
    edits: [['(rest === PARKED || rest === PARKED_BUSY) && replace', 'rest === PARKED && replace']],
    plan: 'bell',
  },
  {
    title: 'the host offers a task to all workers although the only worker waits for it',
    file: 'host/scheduler/pump.js',
    edits: [['this.lending.lend();', ';']],
    plan: asking,
  },
  {
    title: 'the host takes no ticket from the queue for a task that gets a lent slot',
    file: 'host/scheduler/lending.js',
    edits: [['queue.hasTicket ? [] :', 'true ? [] :']],
    plan: {
      ...asking,
      tasks: [{ asksFor: 2 }, {}, {}, {}],
      requests: [[{ submit: 1 }, { submit: 3 }, { submit: 4 }]],
    },
  },
]

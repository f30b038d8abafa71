// Mistakes that somebody might make in the lane, each as a change to the compiled code, with a case that must find it. Some
// were made.
import type { Patch } from '../helpers/patched-copy.js'
import type { Plan } from './plan.js'

export interface Mistake extends Patch {
  title: string
  /** `ring`, `bell`: the cases of these. */
  plan: Omit<Plan, 'title'> | 'ring' | 'bell'
}

const oneTask = { isFine: true, workers: 1, tasks: [{}], wishes: [[{ submit: 1 }]] }
const cancelled = {
  isFine: true,
  workers: 1,
  tasks: [{ isAlone: true }],
  wishes: [[{ submit: 1 }], [{ cancel: 1 }]],
}
const replaced = {
  isFine: true,
  workers: 1,
  tasks: [{ isAlone: true }, {}],
  wishes: [[{ submit: 1 }], [{ cancel: 1 }, { submit: 2 }]],
}
const letEnd = {
  isFine: true,
  workers: 1,
  tasks: [{ isSlow: true }, {}],
  wishes: [[{ submit: 1 }], [{ cancel: 1 }, { submit: 2 }]],
  graceMs: Number.POSITIVE_INFINITY,
  switches: 1,
}
const givenUp = { isFine: true, workers: 1, tasks: [{}], wishes: [[{ submit: 1 }], [{ giveUp: 1 }]] }

export const mistakes: Mistake[] = [
  {
    title: 'a worker does not look again after it said that it sleeps',
    file: 'worker/lane-intake.js',
    edits: [['if (!this.#claims.isWorthClaiming(this.#answers.held))', 'if (true)']],
    plan: { ...oneTask, startsAwake: true },
  },
  {
    title: 'the host does not look again after it said that it sleeps',
    file: 'host/dispatch/lookout.js',
    edits: [['if (hasAnswers())', 'if (false)']],
    plan: { ...oneTask, looksOut: true },
  },
  {
    title: 'a worker rings before it publishes',
    file: 'worker/lane-answers.js',
    edits: [
      [
        'this.#ring.publish(kind',
        "if (this.#hostBell.ring()) this.#port.postMessage('bell'); this.#ring.publish(kind",
      ],
      ['if (this.#hostBell.ring())\n', 'if (false)\n'],
    ],
    plan: oneTask,
  },
  {
    title: 'the tail is moved before the ticket is on offer',
    file: 'shared/lane/task-lane.js',
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
    title: 'a ticket is claimed without compare-and-swap',
    file: 'shared/lane/tickets.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(OFFERED, position), word(CLAIMED, workerId));',
        'this.#words[this.#at(ticket)] = word(CLAIMED, workerId); return true;',
      ],
    ],
    plan: { ...oneTask, workers: 2, startsAwake: true },
  },
  {
    title: 'the head is moved before the ticket is claimed',
    file: 'shared/lane/task-lane.js',
    edits: [
      [
        'const isMine = isOnOffer',
        'replace(words, HEAD, head, (head + 1) & POSITION_MASK); const isMine = isOnOffer',
      ],
    ],
    plan: { ...oneTask, deaths: 1 },
  },
  {
    title: 'a worker does not look whether it is dismissed after a claim',
    file: 'shared/lane/task-lane.js',
    edits: [['return this.#bell.isRetired ? DISMISSED : ticket', 'return ticket']],
    plan: givenUp,
  },
  {
    title: 'a task is begun without compare-and-swap',
    file: 'shared/lane/tickets.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(CLAIMED, workerId), word(BEGUN, workerId));',
        'this.#words[this.#at(ticket)] = word(BEGUN, workerId); return true;',
      ],
    ],
    plan: cancelled,
  },
  {
    title: 'a task is answered without compare-and-swap',
    file: 'shared/lane/tickets.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(BEGUN, workerId), word(ANSWERED, workerId));',
        'this.#words[this.#at(ticket)] = word(ANSWERED, workerId); return true;',
      ],
    ],
    plan: replaced,
  },
  {
    title: 'the ticket of a cancelled task is given away while its handler runs',
    file: 'host/dispatch/lane-retrieval.js',
    edits: [['this.#load.condemn();', 'this.#load.condemn(); this.releaseSettled(task);']],
    plan: letEnd,
  },
  {
    title: 'a worker does not say that the handler of a cancelled task has ended',
    file: 'worker/lane-answers.js',
    edits: [["this.#port.postMessage({ kind: 'over', taskId, slot: ticket });", '']],
    plan: letEnd,
  },
  {
    title: 'a cancelled task keeps its weight when its handler has ended',
    file: 'host/dispatch/lane-retrieval.js',
    edits: [["if (phase === 'condemned' || phase === 'ended')", 'if (false)']],
    plan: letEnd,
  },
  {
    title: 'an offer is taken back without compare-and-swap',
    file: 'shared/lane/tickets.js',
    edits: [
      [
        'return replace(this.#words, this.#at(ticket), word(OFFERED, position), FREE);',
        'this.#words[this.#at(ticket)] = FREE; return true;',
      ],
    ],
    plan: cancelled,
  },
  {
    title: 'a claim does not ask for the position of the offer',
    file: 'shared/lane/tickets.js',
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
      tasks: [{ isAlone: true }, {}, {}],
      wishes: [
        [{ submit: 1 }, { submit: 2 }],
        [{ cancel: 1 }, { submit: 3 }],
      ],
      switches: 2,
    },
  },
  {
    title: 'the host counts a position as given up that a worker has passed',
    file: 'shared/lane/task-lane.js',
    edits: [['if (!isPassed)', 'if (true)']],
    plan: cancelled,
  },
  {
    title: 'the room of a record is given back before it is read',
    file: 'shared/lane/result-ring.js',
    edits: [
      [
        'this.#from = at;',
        'this.#from = at; store(this.#words, READ, (this.#read + this.#words[at + SIZE]) | 0);',
      ],
    ],
    plan: 'ring',
  },
  {
    title: 'a record is published before it is written',
    file: 'shared/lane/result-ring.js',
    edits: [
      [
        'words[at + SIZE] = size;',
        'store(words, WRITTEN, (this.#written + size) | 0); words[at + SIZE] = size;',
      ],
    ],
    plan: 'ring',
  },
  {
    title: 'a worker whose claim was taken back does not go on',
    file: 'worker/lane-intake.js',
    edits: [['onGivenBack();\n        this.#onAnswered();', 'onGivenBack();']],
    plan: { ...cancelled, slots: 2 },
  },
  {
    title: 'what was read of a ticket is believed though the claim is gone',
    file: 'shared/lane/task-lane.js',
    edits: [['return this.tickets.isClaimedBy(ticket, this.#workerId);', 'return true;']],
    plan: { ...replaced, tasks: [{ isAlone: true }, { isMoved: true }], switches: 2 },
  },
  {
    title: 'a payload that went along with its ticket is sent once more',
    file: 'worker/lane-intake.js',
    edits: [['if (!wasSent)', 'if (true)']],
    plan: { ...oneTask, tasks: [{ isMoved: true }], startsAwake: true },
  },
  {
    title: 'the host does not look after its own bell when a worker has died',
    file: 'host/dispatch/lane-road.js',
    edits: [['this.#lookout.onWorkerGone();', '']],
    plan: { ...oneTask, deaths: 1 },
  },
  {
    title: 'a worker says that it sleeps without compare-and-swap',
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
      wishes: [[{ submit: 1 }], [{ giveUp: 1 }, { submit: 2 }]],
      switches: 1,
    },
  },
  {
    title: 'a worker says that it is awake without compare-and-swap',
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
    title: 'a worker is retired without compare-and-swap',
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
    title: 'a worker that holds tasks is retired',
    file: 'shared/lane/doorbell.js',
    edits: [['holdsTasks ? PARKED_BUSY : PARKED', 'PARKED']],
    plan: 'bell',
  },
  {
    title: 'nobody rings for a worker that sleeps with tasks',
    file: 'shared/lane/doorbell.js',
    edits: [['(rest === PARKED || rest === PARKED_BUSY) && replace', 'rest === PARKED && replace']],
    plan: 'bell',
  },
]

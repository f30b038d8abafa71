// Functions for parsed bodies, as a user's module has them.
import { setImmediate as turn } from 'node:timers/promises'
import { workerData } from 'lido/worker'

const STARTED = 0
const GATE = 1

export const total = ({ items }) => items.reduce((sum, item) => sum + item, 0)

/** As validators that are compiled ahead of time: the verdict, and the reasons beside the function. */
export function compiled({ items }) {
  const wrong = items.findIndex(item => typeof item !== 'number')
  compiled.errors =
    wrong < 0 ? null : [{ instancePath: `/items/${wrong}`, message: 'must be number', keyword: 'type' }]
  return wrong < 0
}

export const reasons = ({ items }) => (Array.isArray(items) ? undefined : ['items must be an array'])

/** As schema libraries have it in common. */
export const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: value =>
      typeof value?.a === 'number'
        ? { value: { doubled: value.a * 2 } }
        : { issues: [{ message: 'a must be a number', path: ['a'] }] },
  },
}

export const linked = {
  '~standard': { validate: value => ({ value: value.reduceRight((rest, item) => [rest, item], []) }) },
}

/** Issues that hold functions: among their members, and in objects of a class that tells by getters. */
const tooMany = {
  kind: 'validation',
  message: 'too many',
  requirement: list => list.length < 3,
  path: [{ key: 'items' }],
}

class Fault {
  code = 'domain'
  nodeConfig = { description: node => `a ${node.domain}` }
  get path() {
    return ['items']
  }
  get message() {
    return 'items must be a list'
  }
}

class Faults extends Array {
  byPath = { items: this }
}

export const checking = { '~standard': { validate: () => ({ issues: [tooMany] }) } }
export const classy = { '~standard': { validate: async () => ({ issues: Faults.of(new Fault()) }) } }

export const dates = (_key, value) => (/^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value)

/** Few objects, and more ways to the last of them than can be walked. */
export const braiding = (key, value) => (key === '' ? braid() : value)

/** Nests deeper with each item, in `Map`s. */
export const mapping = (_key, value) =>
  Array.isArray(value) ? value.reduce(map => new Map([['value', map]]), []) : value

/** Refuses 13, and says whose fault it is for 14. */
export function lucky(_key, value) {
  if (value === 13) throw new RangeError('13 is not lucky')
  if (value === 14) throw Object.assign(new RangeError('nor is 14'), { status: 422, code: 'E_FOURTEEN' })
  return value
}

/** Not in the turn in which it was asked. */
export async function later(value) {
  await turn()
  return value
}

/** What nests as deep as it came, what nests in a `Map`, and what looks deep and is not. */
export const whole = value => value
export const mapped = value => new Map([['value', value]])
export const braided = () => braid()

function braid() {
  let strands = []
  for (let level = 0; level < 100; level++) strands = [strands, strands]
  return strands
}

export function throwing() {
  throw Object.assign(new RangeError('too many'), { status: 409 })
}

/** As classes of errors have it that keep their status to themselves. */
class Conflict extends Error {
  #status = 409
  get status() {
    return this.#status
  }
}

export function conflicting() {
  throw new Conflict('too many')
}

/** What is thrown is what came. */
export function throwIt({ thrown }) {
  throw thrown === 'undefined' ? undefined : thrown
}

export function exit() {
  process.exit(3)
}

export function hungry() {
  const held = []
  for (;;) held.push(new Array(1_000_000).fill(held.length))
}

/** Says that it has begun, and ends when the gate is open, or never when its task is cancelled. */
export async function gated(value) {
  Atomics.add(workerData, STARTED, 1)
  Atomics.notify(workerData, STARTED)
  while (Atomics.load(workerData, GATE) === 0) await turn()
  return value
}

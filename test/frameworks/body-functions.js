// Functions for parsed bodies, as in the module of a user.
import { setImmediate as turn } from 'node:timers/promises'
import { workerData } from 'lido/worker'

const STARTED = 0
const GATE = 1

export const total = ({ items }) => items.reduce((sum, item) => sum + item, 0)

/** Like a precompiled validator: returns the verdict and stores the errors on the function. */
export function compiled({ items }) {
  const wrong = items.findIndex(item => typeof item !== 'number')
  compiled.errors =
    wrong < 0 ? null : [{ instancePath: `/items/${wrong}`, message: 'must be number', keyword: 'type' }]
  return wrong < 0
}

export const reasons = ({ items }) => (Array.isArray(items) ? undefined : ['items must be an array'])

/** A schema with the interface of Standard Schema. */
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

/** Issues that hold functions: as members, and in objects of a class with getters. */
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

/** Few objects, but more paths through them than a program can visit. */
export const braiding = (key, value) => (key === '' ? braid() : value)

/** Adds a nested `Map` for each item. */
export const mapping = (_key, value) =>
  Array.isArray(value) ? value.reduce(map => new Map([['value', map]]), []) : value

/** Throws for 13, and throws an error with a status of its own for 14. */
export function lucky(_key, value) {
  if (value === 13) throw new RangeError('13 is not lucky')
  if (value === 14) throw Object.assign(new RangeError('nor is 14'), { status: 422, code: 'E_FOURTEEN' })
  return value
}

/** Returns in a later turn of the event loop. */
export async function later(value) {
  await turn()
  return value
}

/** The body itself, the body in a `Map`, and a value that has many paths but few levels. */
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

/** An error class with a private status and a getter. */
class Conflict extends Error {
  #status = 409
  get status() {
    return this.#status
  }
}

export function conflicting() {
  throw new Conflict('too many')
}

/** Throws the value that the body holds. */
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

/** Counts its start and returns when the gate opens. */
export async function gated(value) {
  Atomics.add(workerData, STARTED, 1)
  Atomics.notify(workerData, STARTED)
  while (Atomics.load(workerData, GATE) === 0) await turn()
  return value
}

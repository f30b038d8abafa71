// The tasks of all scenarios, as plain functions. The files for poolifier and workerpool wrap this file.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'

const { setTimeout, setInterval, setImmediate } = globalThis
const factsFile = process.env.FAULT_FACTS
const gate = `${process.env.FAULT_FOLDER}/gate`
const identity = `${process.pid}-${Math.random()}`
let counter = 0

function fact(line) {
  appendFileSync(factsFile, `${line}\n`)
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

async function gateOpens() {
  while (!existsSync(gate)) await pause(5)
}

// Tasks that answer.
export const echo = value => value
export const whoAmI = () => identity
export const count = () => ++counter
export const length = value => value.byteLength ?? value.length
export const isUndefined = value => value === undefined

export async function later({ ms, value }) {
  await pause(ms)
  return value
}

/** Blocks its thread. */
export function block({ ms, value }) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  return value
}

export function noted(number) {
  fact(`ran ${number}`)
  return number
}

export async function gated(number) {
  fact(`started ${number}`)
  await gateOpens()
  return number
}

export function openGate(value) {
  writeFileSync(gate, '')
  return value
}

// Tasks that never answer.
export function spin() {
  fact('spinning')
  for (;;);
}

/** Declared `async`, because some pools check whether the function is async. */
export async function hang() {
  fact('hanging')
  await new Promise(() => {})
}

// Tasks that end their worker.
export function exit(code) {
  process.exit(code)
}

export async function exitAtGate() {
  fact('started')
  await gateOpens()
  process.exit(3)
}

export function exitAfterwards(value) {
  setImmediate(() => process.exit(3))
  return value
}

export function exitWhenIdle(ms) {
  setTimeout(() => process.exit(3), ms)
  return 'answered'
}

export function throwWhenIdle(ms) {
  setTimeout(() => {
    throw new Error('in an idle worker')
  }, ms)
  return 'answered'
}

export async function floats() {
  Promise.reject(new Error('floating'))
  await pause(300)
  return 'answered'
}

export async function throwsMeanwhile() {
  setTimeout(() => {
    throw new RangeError('its own words')
  }, 10)
  await pause(5_000)
}

export function eatMemory() {
  const kept = []
  for (;;) kept.push(new Array(10_000).fill(kept.length))
}

export function overflow() {
  const deeper = depth => 1 + deeper(depth + 1)
  return deeper(0)
}

// Results and errors that cannot be cloned, or only with difficulty.
export const returnFunction = () => () => {}
export const makeBytes = size => new Uint8Array(size)

export function fail(kind) {
  throw failures[kind]()
}

const failures = {
  plain: () => new Error('plain words'),
  functions: () =>
    Object.assign(new Error('carries functions'), { callback() {}, nested: { callback() {} } }),
  cycle: () => {
    const error = new Error('carries a cycle')
    return Object.assign(error, { self: error, box: { error } })
  },
  symbol: () => Symbol('thrown'),
  function: () => function thrown() {},
  rich: () =>
    Object.assign(new RangeError('rich words', { cause: new TypeError('its cause') }), {
      code: 'EOWN',
      detail: { a: 1 },
    }),
}

// Work that continues after its task.
export function tick() {
  setInterval(() => fact('tick'), 20)
  return 'ticking'
}

export function writeLater() {
  setTimeout(() => fact('written'), 50)
  return 'answered'
}

export function log(line) {
  console.log(line)
  return line
}

/** Closes the parent port of a thread, or the message channel of a process. */
export function closeParentPort(value) {
  const channel = parentPort ?? process
  channel.removeAllListeners('message')
  if (parentPort === null) process.disconnect()
  else parentPort.close()
  return value
}

// Tasks that inspect the worker or their payload.
export const readGlobal = name => globalThis[name]
export const readPrototype = name => Object.prototype[name]
export const ownKeys = value => Object.keys(value)

/** Runs a task in a pool of the same kind inside this worker. */
export async function nestPool(value) {
  const { open } = await import(new URL(`../../pools/${process.env.FAULT_POOL}.js`, import.meta.url))
  const pool = open({ backend: 'thread', workers: 1 })
  const result = await pool.run('echo', value)
  await pool.destroy()
  return result
}

/** Leaves many writes behind, each after the other. */
export function leaveWrites(count) {
  const write = async () => {
    for (let number = 0; number < count; number++) await appendFile(factsFile, `left ${number}\n`)
  }
  write()
  return 'answered'
}

/** Never answers, and notes when its worker exits by itself. */
export async function hangUntilExit() {
  process.on('exit', () => fact('exited'))
  fact('hanging')
  await new Promise(() => {})
}

export const readVariable = name => process.env[name]

/** As a handler that sets up a browser's environment. */
export function replaceGlobals(value) {
  globalThis.process = { env: {} }
  globalThis.setTimeout = () => 0
  globalThis.queueMicrotask = () => {}
  return value
}

export function logMuch(task) {
  for (let number = 0; number < 60; number++) console.log(`line ${task} ${number} ${'x'.repeat(900)}`)
  return task
}

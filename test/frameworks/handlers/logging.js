// Handlers that log by `workerLogger()`.
import { workerLogger } from 'lido/pino'
import { logEverything, workerOptions } from './logged-values.js'

const log = workerLogger()
const rich = workerLogger(workerOptions)
const wide = workerLogger({ customLevels: { notice: 35 }, level: 'debug' })

export const everything = () => logEverything(rich)

export default function line(value) {
  log.info({ value }, 'a line')
}

export function burst(count) {
  for (let index = 0; index < count; index++) log.info({ index }, 'a line of many')
  return count
}

/** Logs in a turn that nobody awaits. */
export function late() {
  setImmediate(() => log.info('late'))
}

export function exit() {
  log.info('before exit')
  process.on('exit', () => log.info('at exit'))
  process.exit(1)
}

export function crash() {
  log.info('before crash')
  setImmediate(() => {
    log.error('at crash')
    throw new Error('uncaught')
  })
  return new Promise(() => {})
}

export function loop() {
  for (let index = 0; index < 5; index++) log.info({ index }, 'before loop')
  for (;;);
}

/** Tells which levels are enabled, and logs a line of a level below and of one above the host's. */
export function levels() {
  log.trace('not wanted')
  log.debug('debug')
  return [log.isLevelEnabled('debug'), log.child({}).isLevelEnabled('info')]
}

export function notice() {
  wide.notice('a level of the worker')
  wide.trace('below the level of the worker')
}

// The script of the tests of workerpool and lido/workerpool. The variable WORKERPOOL names the module.
'use strict'

const { existsSync, writeFileSync } = require('node:fs')
const { threadId, workerData } = require('node:worker_threads')
const workerpool = require(process.env.WORKERPOOL)

let teardownFile

workerpool.worker(
  {
    add: (a, b) => a + b,
    fail() {
      throw Object.assign(new RangeError('the number is too large'), { code: 'TOO_LARGE' })
    },
    exit: () => process.exit(3),
    throwObject(withToJson) {
      throw { message: 'no', code: 'E_X', ...(withToJson && { toJSON: () => ({ message: 'json' }) }) }
    },
    async throwObjectLater() {
      await null
      throw { message: 'later' }
    },
    waitForAbort() {
      return new Promise(resolve => {
        this.worker.addAbortListener(async () => {
          workerpool.workerEmit({ cleanup: true })
          console.log('cleaned')
          resolve()
        })
        workerpool.workerEmit({ waits: true })
      })
    },
    where: () => `${process.pid} ${threadId}`,
    isMainThread: () => workerpool.isMainThread,
    data: () => workerData,
    variable: name => process.env[name] ?? null,
    typeOf: value => Object.prototype.toString.call(value),
    print(text) {
      process.stdout.write(text)
      return 'printed'
    },
    events(count) {
      for (let at = 0; at < count; at++) workerpool.workerEmit({ at })
      return 'done'
    },
    emit(value) {
      this.worker.emit(value)
    },
    spin(file) {
      writeFileSync(file, 'started')
      for (;;);
    },
    async until(file) {
      writeFileSync(`${file}.started`, '')
      while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 5))
      return 'seen'
    },
    patient(file) {
      return new Promise(resolve => {
        const timer = setTimeout(resolve, 60_000)
        this.worker.addAbortListener(async () => {
          clearTimeout(timer)
          resolve()
        })
        writeFileSync(file, 'started')
      })
    },
    writeAtEnd(file) {
      teardownFile = file
    },
    bytes(length) {
      const view = new Uint8Array(length).fill(7)
      return new workerpool.Transfer(view, [view.buffer])
    },
    sum: numbers => numbers.reduce((one, other) => one + other, 0),
  },
  {
    onTerminate() {
      if (teardownFile) writeFileSync(teardownFile, 'ended')
    },
  },
)

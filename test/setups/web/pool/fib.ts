import { isMainThread } from 'node:worker_threads'
import ms from 'ms'
import { fib } from './math.ts'

const version = 1

export default function run(n: number) {
  return { fib: fib(n), isMainThread, version, second: ms('1s') }
}

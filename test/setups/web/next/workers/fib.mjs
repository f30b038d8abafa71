import { isMainThread } from 'node:worker_threads'

const version = 1
const fib = n => (n < 2 ? n : fib(n - 1) + fib(n - 2))

export default function run(n) {
  return { fib: fib(n), isMainThread, version }
}

// What workers run: a file of its own, in a build as in a bundle.
import { isMainThread } from 'node:worker_threads'

export default function double(value: number): { doubled: number; isMainThread: boolean } {
  return { doubled: value * 2, isMainThread }
}

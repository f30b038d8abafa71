// The handler file. It stays a separate file in the build and in the bundle.
import { isMainThread } from 'node:worker_threads'

export default function double(value: number): { doubled: number; isMainThread: boolean } {
  return { doubled: value * 2, isMainThread }
}

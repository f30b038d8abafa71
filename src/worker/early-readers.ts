// Copies of `lido/worker` that are here before the worker's own first file, as Node loads what `--import` and `--require`
// name. What they say of the worker they read again when it is there.
import { globalSymbol } from '../shared/platform/global-symbol.js'

type Reader = () => void

const brand = globalSymbol('earlyReaders')

export function readAgainLater(read: Reader): void {
  const known = earlyReaders()
  if (known !== undefined) known.push(read)
  else Reflect.defineProperty(globalThis, brand, { value: [read] })
}

export function readAgain(): void {
  for (const read of earlyReaders() ?? []) read()
}

function earlyReaders(): Reader[] | undefined {
  return (globalThis as Record<symbol, Reader[] | undefined>)[brand]
}

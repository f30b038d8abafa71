// A reference to a handler, as messages carry it, and the files that this thread is loading.
import { globalSymbol } from '../platform/global-symbol.js'

/** A handler: an exported function of a file. */
export interface HandlerRef {
  /** An absolute path, `MODULE_OPTION` or `FUNCTION_TEXT`. */
  filename: string
  name: string
  /** Left out: the function gets the payload. */
  call?: CallKind
  /** The absolute path of an adapter's module, whose `wrap(handler)` gives the function that the worker calls. */
  wrapper?: string
}

/** Stands for the file of handlers that the pool got as the option `module`. */
export const MODULE_OPTION = "the option 'module'"

/**
 * `arguments`: the payload is an array, and the function gets each of its items as an argument. Its result may be a stream.
 * `stream`: the function gets the payload, and its result is a stream.
 * `transform`: the function gets a stream, and its result is a stream. The payload is a `TransformOrder`.
 * `pack`: the payload is a `PackOrder`. The function gets one item after another, and each item has its own answer.
 */
export type CallKind = 'arguments' | 'stream' | 'transform' | 'pack'

/** The payload of a pack: several items of a map that one task runs. Its result is the number of items that the worker started. */
export interface PackOrder {
  items: unknown[]
  /** After this time the worker starts no further item. Then the host sends the rest again. */
  mostMs: number
}

/** The payload of a transform. */
export interface TransformOrder {
  /** The window of the input. */
  chunks: number
  bytes: number
  /** Transfer the buffers of chunks. */
  transfers: boolean
}

const loadingKey = globalSymbol('loading')

/**
 * A worker that loads a handler may run the program's file, whose pools start workers. These must not do the same again, without end. So a
 * worker also knows the files that its host's thread was loading.
 */
export function inheritLoadingFiles(files: readonly string[]): void {
  for (const file of files) loadingFiles().add(file)
}

/** The handler files that this thread is loading. Stored on `globalThis`, so that all copies of this package see the same set. */
export function loadingFiles(): Set<string> {
  const globals = globalThis as unknown as Record<symbol, Set<string> | undefined>
  globals[loadingKey] ??= new Set()
  return globals[loadingKey]
}

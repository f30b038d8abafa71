// Types of calls, taken from the handler's own module: `new Pool<typeof import('./handler.js')>(…)`.

import type { RunOptions } from './call-options.js'
import type { PoolStream } from './results.js'

type IsAny<T> = 0 extends 1 & T ? true : false

/** If `module.exports` is a function, TypeScript uses it as the module. Then this function is the default export. */
type ExportsOf<Module> = Module extends (...args: never[]) => unknown ? Module & { default: Module } : Module

/**
 * The names of the functions that a module exports, or of its promises of functions. A handler gets one argument, so functions
 * that require a second one are left out.
 */
export type HandlerName<Module> =
  IsAny<Module> extends true
    ? string
    : {
        [Name in keyof ExportsOf<Module>]: HandlerOf<Module, Name> extends (payload: never) => unknown
          ? Name
          : never
      }[keyof ExportsOf<Module>] &
        string

type HandlerOf<Module, Name> = Name extends keyof ExportsOf<Module> ? Awaited<ExportsOf<Module>[Name]> : never

/** The payload of the function with this name. For several names: the payload that all of these functions accept. */
export type PayloadOf<Module, Name> =
  IsAny<Module> extends true
    ? any
    : [Name] extends [never]
      ? never
      : (Name extends unknown ? (payload: PayloadOfOne<Module, Name>) => void : never) extends (
            payload: infer Payload,
          ) => void
        ? Payload
        : never

type PayloadOfOne<Module, Name> =
  HandlerOf<Module, Name> extends (...args: infer Arguments) => unknown
    ? Arguments extends []
      ? undefined
      : Arguments extends [infer Payload, ...unknown[]]
        ? Payload
        : // The payload is optional, as every parameter in a module without types.
          Arguments extends [(infer Payload)?, ...unknown[]]
          ? Payload | undefined
          : undefined
    : never

/** The name of the handler of a pool without the option `name`. */
export type DefaultName<Module> = HandlerName<Module> & 'default'

/**
 * The arguments of `run()`, `stream()` and `broadcast()`. The payload may be left out where the function takes `undefined`. One tuple,
 * not overloads, so the compiler says which argument is wrong.
 */
export type RunArguments<Module, Name, Default = never, Options = RunOptions> =
  undefined extends PayloadOf<Module, Chosen<Name, Default>>
    ? [payload?: PayloadOf<Module, Chosen<Name, Default>>, options?: Options & { name?: Name }]
    : [payload: PayloadOf<Module, Chosen<Name, Default>>, options?: Options & { name?: Name }]

/** The name of the handler, where `undefined` means the pool's own. */
export type Chosen<Name, Default> = Name extends undefined ? Default : Name

/** The chunks of the stream that the function with this name returns. */
export type ChunkOf<Module, Name> = IsAny<Module> extends true ? any : ItemOf<ResultOf<Module, Name>>

/** A string is a value, although it can be iterated. */
type ItemOf<Result> = Result extends string
  ? never
  : Result extends StreamOf<infer Chunk> | Iterable<infer Chunk>
    ? Chunk
    : never

/** The results that are streams for every call. An array or a set is a stream for `stream()` only. */
type StreamOf<Chunk> = AsyncIterable<Chunk> | IterableIterator<Chunk> | ReadableStream<Chunk>

/** The result of the function with this name, without its promise. */
export type ResultOf<Module, Name> =
  IsAny<Module> extends true
    ? any
    : HandlerOf<Module, Name> extends (...args: never[]) => infer Result
      ? Awaited<Result>
      : never

/** What `await`, `JSON.stringify()` and every object use is not part of `pool.api`. */
type ReservedName =
  | 'then'
  | 'toJSON'
  | 'constructor'
  | 'hasOwnProperty'
  | 'isPrototypeOf'
  | 'propertyIsEnumerable'
  | 'toLocaleString'
  | 'toString'
  | 'valueOf'

/** The functions of a module, each with its own parameters. A call runs in a worker and returns a promise. */
export type PoolApi<Module> =
  IsAny<Module> extends true
    ? any
    : {
        readonly [Name in keyof ExportsOf<Module> as CallableName<Module, Name>]: CallOf<
          HandlerOf<Module, Name>
        >
      }

type CallableName<Module, Name> = Name extends ReservedName
  ? never
  : HandlerOf<Module, Name> extends (...args: never[]) => unknown
    ? Name & string
    : never

type CallOf<Handler> = Handler extends (...args: infer Arguments) => infer Result
  ? (...args: Arguments) => ApiResult<Awaited<Result>>
  : never

/** A function whose result is a stream gives a promise that can be awaited, or iterated at once. */
export type ApiResult<Result> =
  IsAny<Result> extends true
    ? Promise<any>
    : [Result] extends [never]
      ? Promise<never>
      : [Result] extends [StreamOf<infer Chunk>]
        ? Promise<PoolStream<Chunk>> & AsyncIterable<Chunk>
        : Promise<Result extends StreamOf<infer Chunk> ? PoolStream<Chunk> : Result>

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
  undefined extends AcceptedPayload<Module, Name, Default>
    ? [
        payload?: AcceptedPayload<Module, Name, Default>,
        options?: Options & { name?: CheckedName<Module, Name> },
      ]
    : [
        payload: AcceptedPayload<Module, Name, Default>,
        options?: Options & { name?: CheckedName<Module, Name> },
      ]

/** The name of the handler, where `undefined` means the pool's own. */
export type Chosen<Name, Default> = Name extends undefined ? Default : Name

/**
 * The type of the option `name` of a call. For a name of no handler it is another type, so that the compiler reports the error there:
 * a sentence for a function with several parameters, else the names of the handlers.
 */
export type CheckedName<Module, Name> = Name extends HandlerName<Module> | undefined
  ? Name
  : Name extends keyof FunctionsOf<Module> & string
    ? `${Name}() requires several arguments. Call pool.api.${Name}().`
    : HandlerName<Module>

/**
 * The payload of the handler that a call names. Without a handler it is a sentence for the error message. With a wrong name it is any
 * value, because the error is at the name.
 */
export type AcceptedPayload<Module, Name, Default> =
  IsAny<Module> extends true ? any : PayloadOrSentence<Module, Chosen<Name, Default>>

type PayloadOrSentence<Module, Name> = [Name] extends [never]
  ? 'default' extends keyof FunctionsOf<Module>
    ? 'default() requires several arguments. Call pool.api.default().'
    : "The module has no default function. Give the option 'name'."
  : [Name] extends [HandlerName<Module>]
    ? PayloadOf<Module, Name>
    : any

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

/** The functions that a module exports. `Pick` keeps the comments and the places of the functions for editors. */
type FunctionsOf<Module> = Pick<
  ExportsOf<Module>,
  { [Name in keyof ExportsOf<Module>]: CallableName<Module, Name> }[keyof ExportsOf<Module>]
>

type CallableName<Module, Name> = Name extends ReservedName
  ? never
  : HandlerOf<Module, Name> extends (...args: never[]) => unknown
    ? Name & string
    : never

/**
 * The functions of a module, each with its own parameters. A call runs in a worker and returns a promise. An async function keeps its type
 * parameters and overloads. Another generic function loses them: TypeScript cannot change only the result of such a function.
 */
export type PoolApi<Module> = IsAny<Module> extends true ? any : CallsOf<FunctionsOf<Module>>

type CallsOf<Functions> = { readonly [Name in keyof Functions]: CallOf<Awaited<Functions[Name]>> }

type CallOf<Handler> = Handler extends (...args: infer Arguments) => infer Result
  ? IsCall<Handler, Result> extends true
    ? Handler
    : (...args: Arguments) => ApiResult<Awaited<Result>>
  : never

/** The function already has the type of its call: it returns a promise of a value, and has no members. */
type IsCall<Handler, Result> =
  IsAny<Result> extends true
    ? false
    : [keyof Handler, Result, Promise<Awaited<Result>>, Extract<Awaited<Result>, StreamOf<any>>] extends [
          never,
          Promise<unknown>,
          Result,
          never,
        ]
      ? true
      : false

/** A function whose result is a stream gives a promise that can be awaited, or iterated at once. */
export type ApiResult<Result> =
  IsAny<Result> extends true
    ? Promise<any>
    : [Result] extends [never]
      ? Promise<never>
      : [Result] extends [StreamOf<infer Chunk>]
        ? Promise<PoolStream<Chunk>> & AsyncIterable<Chunk>
        : Promise<Result extends StreamOf<infer Chunk> ? PoolStream<Chunk> : Result>

// Types of calls, taken from the handler's own module: `new Pool<typeof import('./handler.js')>(…)`.

type IsAny<T> = 0 extends 1 & T ? true : false

/** Where `module.exports` is a function, that is what TypeScript has for the module, and it is the default. */
type ExportsOf<Module> = Module extends (...args: never[]) => unknown ? Module & { default: Module } : Module

/**
 * The names of a module's functions, or of its promises of functions. A handler gets one argument, so a function that
 * requires a second one is left out.
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

/** What a name's function takes; of several names, what the functions of all of them take. */
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
        : // It may be left out; so may each of a module without types.
          Arguments extends [(infer Payload)?, ...unknown[]]
          ? Payload | undefined
          : undefined
    : never

/** The name of a pool that was given none. */
export type DefaultName<Module> = HandlerName<Module> & 'default'

/** The arguments of a call without any: none, where the function can do without a payload. */
export type NoPayload<Module, Name> =
  IsAny<Module> extends true
    ? []
    : [undefined] extends [PayloadOf<Module, Name>]
      ? []
      : [payload: PayloadOf<Module, Name>]

export type ResultOf<Module, Name> =
  IsAny<Module> extends true
    ? any
    : HandlerOf<Module, Name> extends (...args: never[]) => infer Result
      ? Awaited<Result>
      : never

// Types of calls, taken from the handler's own module: `new Pool<typeof import('./handler.js')>(…)`.

type IsAny<T> = 0 extends 1 & T ? true : false

/** The names of a module's functions, or of its promises of functions. */
export type HandlerName<Module> =
  IsAny<Module> extends true
    ? string
    : {
        [Name in keyof Module]: Awaited<Module[Name]> extends (...args: never[]) => unknown ? Name : never
      }[keyof Module] &
        string

type HandlerOf<Module, Name> = Name extends keyof Module ? Awaited<Module[Name]> : never

export type PayloadOf<Module, Name> =
  IsAny<Module> extends true
    ? any
    : HandlerOf<Module, Name> extends (...args: infer Arguments) => unknown
      ? Arguments extends []
        ? undefined
        : // A payload that may be left out is one too; so is each of a module without types.
          Arguments extends [(infer Payload)?, ...unknown[]]
          ? Payload
          : undefined
      : never

export type ResultOf<Module, Name> =
  IsAny<Module> extends true
    ? any
    : HandlerOf<Module, Name> extends (...args: never[]) => infer Result
      ? Awaited<Result>
      : never

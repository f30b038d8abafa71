// Assertions about types for the other files of this folder. They compile only when they are true.

/** True when both are the same type; `any` equals only `any`. */
export type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false

/** `isTrue<Same<typeof value, string>>()` */
export declare function isTrue<Statement extends true>(): Statement

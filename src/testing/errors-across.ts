// What a handler threw, as it arrives on the other side: packed, cloned as a port would, and revived.
import assert from 'node:assert/strict'
import { type ErrorClass, ErrorClasses } from '../shared/errors/error-classes.js'
import { pack, unpack } from '../shared/errors/remote-error.js'

export const across = (thrown: unknown, ...own: ErrorClass[]): any =>
  unpack(structuredClone(pack(thrown)), new ErrorClasses(own))

/** Crosses, and must arrive as an error. */
export function errorAcross(thrown: unknown, ...own: ErrorClass[]): any {
  const error = across(thrown, ...own)
  assert.ok(error instanceof Error, `arrived as ${typeof error}: ${String(error)}`)
  return error
}

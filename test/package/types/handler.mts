// A handler module with functions of several kinds.

export interface Row {
  id: number
  text: string
}

export default function length(row: Row): number {
  return row.text.length
}

export async function upper(text: string): Promise<string> {
  return text.toUpperCase()
}

export function now(): Date {
  return new Date()
}

export const limit = 10

/** Its second parameter always has its default. */
export const scaled = (value: number, factor = 10) => value * factor

/** No handler: it requires a second argument. */
export const multiplied = (value: number, factor: number) => value * factor

/** Its payload may be left out. */
export const trimmed = (text?: string) => text?.trim() ?? ''

export function* numbers(to: number): Generator<number, void, undefined> {
  for (let n = 0; n < to; n++) yield n
}

export async function* words(text: string, separator = ' '): AsyncGenerator<string, void, undefined> {
  yield* text.split(separator)
}

export async function* lengths(source: AsyncIterable<string>): AsyncGenerator<number, void, undefined> {
  for await (const text of source) yield text.length
}

export const laterNumbers = async (to: number) => numbers(to)

/** An iterator that is no generator. */
export const valuesOf = (map: Map<string, number>): IterableIterator<number> => map.values()

export const pages = (id: number): ReadableStream<Row> =>
  new ReadableStream<Row>({ start: controller => controller.enqueue({ id, text: '' }) })

export const list = (length: number): number[] => Array.from({ length }, (_, n) => n)

/** No handler for `stream()`: it requires a second argument. */
export async function* rows(text: string, from: number): AsyncGenerator<Row> {
  yield { id: from, text }
}

/** An async function keeps its type parameter in `pool.api`. */
export async function echo<Value>(value: Value): Promise<Value> {
  return value
}

/** Another function loses it. */
export const boxed = <Value,>(value: Value): { value: Value } => ({ value })

export function sizeOf(text: string): Promise<number>
export function sizeOf(bytes: Uint8Array, unit: 'kB'): Promise<string>
export async function sizeOf(given: string | Uint8Array, unit?: string): Promise<number | string> {
  return unit === undefined ? given.length : `${given.length / 1000} ${unit}`
}

/** It is no function of `pool.api` with this member. */
export const withMember = Object.assign(async (size: number): Promise<number> => size, { unit: 'kB' })

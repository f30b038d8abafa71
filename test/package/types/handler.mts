// A handler's module with functions of several kinds.

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

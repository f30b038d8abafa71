// Cuts texts that come from outside, such as the name of a job, for messages.

const MOST_CHARACTERS = 120

export function shorten(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}

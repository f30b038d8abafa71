// Cuts texts that come from outside, such as the name of a job, for messages.

const MOST_CHARACTERS = 120

export function shorten(text: string, most = MOST_CHARACTERS): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

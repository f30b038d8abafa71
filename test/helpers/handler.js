// Returns the URL of a handler file in test/fixtures/handlers.

export function handler(name) {
  return new URL(`../fixtures/handlers/${name}`, import.meta.url)
}

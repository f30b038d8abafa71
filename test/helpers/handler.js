// Where the handlers of the tests are.

export function handler(name) {
  return new URL(`../fixtures/handlers/${name}`, import.meta.url)
}

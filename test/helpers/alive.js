// Keeps the process alive while a promise is pending: an idle pool does not, and the test waits for what it does then.

export async function alive(promise) {
  const anchor = setInterval(() => {}, 60_000)
  try {
    return await promise
  } finally {
    clearInterval(anchor)
  }
}

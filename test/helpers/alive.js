// Keeps the process alive while a promise is pending. An idle pool does not keep the process alive.

export async function alive(promise) {
  const anchor = setInterval(() => {}, 60_000)
  try {
    return await promise
  } finally {
    clearInterval(anchor)
  }
}

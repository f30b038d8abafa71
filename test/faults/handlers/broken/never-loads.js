setInterval(() => {}, 1_000)
await new Promise(() => {})

// Takes a while to load.
await new Promise(resolve => setTimeout(resolve, 1_500))

export * from './tasks.js'

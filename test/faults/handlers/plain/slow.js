// Loads slowly.
await new Promise(resolve => setTimeout(resolve, 1_500))

export * from './tasks.js'

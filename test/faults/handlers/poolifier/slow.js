// Loads slowly.
await new Promise(resolve => setTimeout(resolve, 1_500))
const { default: worker } = await import('./tasks.js')

export default worker

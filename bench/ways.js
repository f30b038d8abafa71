// Maps the names of the pools to the names that the examples use.
export const ways = { lido: 'lido', piscina: 'piscina', 'worker-per-request': 'worker', unpooled: 'alone' }

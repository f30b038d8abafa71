// How the examples call what a contestant stands for.
export const ways = { lido: 'lido', piscina: 'piscina', 'worker-per-request': 'worker', unpooled: 'alone' }

import { answer } from './pool.ts'

export const render = async () => JSON.stringify(await answer())

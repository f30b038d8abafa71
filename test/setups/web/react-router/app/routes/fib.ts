import { answer } from '../lib/pool.ts'

export const loader = async () => Response.json(await answer())

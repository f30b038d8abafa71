import { answer } from '../lib/pool.ts'

export const GET = async () => Response.json(await answer())

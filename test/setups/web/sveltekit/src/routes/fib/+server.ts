import { json } from '@sveltejs/kit'
import { answer } from '../../lib/server/pool.ts'

export const GET = async () => json(await answer())

import { answer } from '../../lib/pool.js'

export const dynamic = 'force-dynamic'

export const GET = async () => Response.json(await answer())

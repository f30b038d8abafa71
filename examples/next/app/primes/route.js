import { pool } from '../../lib/pool.js'

export async function GET(request) {
  const below = Number(request.nextUrl.searchParams.get('below'))
  return Response.json({ count: await pool.run(below, { signal: request.signal }) })
}

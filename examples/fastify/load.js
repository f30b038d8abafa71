// One measured run of the server, in a process of its own. The load comes from this process. Meanwhile /health is requested.
import { loadServer } from '../shared/load.js'

export async function loadHashing(way, { costLog2, maxWorkers, connections, durationSeconds }) {
  const settings = { way, cost: 2 ** costLog2, maxWorkers }
  const load = { connections, durationSeconds, asksHealth: true }
  return await loadServer(new URL('./app.js', import.meta.url), settings, load)
}

// Keeps the handler: it works on the rows of one task and returns their lines.
import { describePlace } from './nearest-airports.js'

export default function describePlaces(rows) {
  return rows.map(describePlace).join('')
}

// The handler: parses the rows of one chunk of the file, processes them, and returns their lines.
import { parsePlaces } from './dataset.js'
import { describePlace } from './nearest-airports.js'

export default function describePlaces(chunk) {
  return parsePlaces(chunk).map(describePlace).join('')
}

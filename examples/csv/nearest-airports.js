// The work on one row, which is synchronous and CPU-bound: find the three nearest airports by great-circle distance, make the names
// uniform, and hash the line.
import { createHash } from 'node:crypto'
import { readAirports } from './dataset.js'

const earthRadiusKm = 6371.0088
const radians = Math.PI / 180
const kept = 3

const airports = readAirports()
// The airports as points of the unit sphere: x, y and z of each.
const points = Float64Array.from(airports.flatMap(({ latitude, longitude }) => pointAt(latitude, longitude)))

export function describePlace(row) {
  const nearest = findNearest(pointAt(Number(row.latitude), Number(row.longitude)))
  const distances = nearest.map(({ airport, square }) => `${airport.iata},${toKm(square).toFixed(3)}`)
  const line = [row.zipCode, uniform(row.city), uniform(row.county), row.state, ...distances].join(',')
  return `${line},${createHash('sha256').update(line).digest('hex').slice(0, 16)}\n`
}

function pointAt(latitude, longitude) {
  const cosine = Math.cos(latitude * radians)
  return [
    cosine * Math.cos(longitude * radians),
    cosine * Math.sin(longitude * radians),
    Math.sin(latitude * radians),
  ]
}

// The straight line through the earth is shorter to a nearer airport, so its square is enough to compare.
function findNearest([x, y, z]) {
  const indexes = Array(kept).fill(-1)
  const squares = Array(kept).fill(Infinity)
  for (let index = 0; index < airports.length; index++) {
    const dx = points[3 * index] - x
    const dy = points[3 * index + 1] - y
    const dz = points[3 * index + 2] - z
    const square = dx * dx + dy * dy + dz * dz
    if (square >= squares[kept - 1]) continue
    let place = kept - 1
    for (; place > 0 && square < squares[place - 1]; place--) {
      indexes[place] = indexes[place - 1]
      squares[place] = squares[place - 1]
    }
    indexes[place] = index
    squares[place] = square
  }
  return indexes.map((index, place) => ({ airport: airports[index], square: squares[place] }))
}

function toKm(square) {
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(square) / 2)
}

function uniform(name) {
  return name.normalize('NFC').trim().replace(/\s+/g, ' ').toUpperCase()
}

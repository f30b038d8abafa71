// Keeps the work on one row: real, synchronous, and bound by the processor. The three airports nearest to a place
// by great-circle distance to all of them, the place's names made uniform, and a fingerprint of the line written.
import { createHash } from 'node:crypto'
import { readAirports } from './dataset.js'

const earthRadiusKm = 6371.0088
const radians = Math.PI / 180
const kept = 3

const airports = readAirports().map(({ iata, latitude, longitude }) => ({
  iata,
  latitude: latitude * radians,
  longitude: longitude * radians,
  cosine: Math.cos(latitude * radians),
}))

export function describePlace(row) {
  const latitude = Number(row.latitude) * radians
  const longitude = Number(row.longitude) * radians
  const nearest = findNearest(latitude, longitude).map(({ iata, km }) => `${iata},${km.toFixed(3)}`)
  const line = [row.zip_code, uniform(row.city), uniform(row.county), row.state, ...nearest].join(',')
  return `${line},${createHash('sha256').update(line).digest('hex').slice(0, 16)}\n`
}

function findNearest(latitude, longitude) {
  const cosine = Math.cos(latitude)
  const nearest = []
  for (const airport of airports) {
    const km = distanceKm(latitude, longitude, cosine, airport)
    if (nearest.length === kept && km >= nearest[kept - 1].km) continue
    if (nearest.length === kept) nearest.pop()
    const place = nearest.findIndex(other => km < other.km)
    nearest.splice(place < 0 ? nearest.length : place, 0, { iata: airport.iata, km })
  }
  return nearest
}

function distanceKm(latitude, longitude, cosine, airport) {
  const a = Math.sin((airport.latitude - latitude) / 2)
  const b = Math.sin((airport.longitude - longitude) / 2)
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(a * a + cosine * airport.cosine * b * b))
}

function uniform(name) {
  return name.normalize('NFC').trim().replace(/\s+/g, ' ').toUpperCase()
}

// Keeps the two real data sets of this example, from the package vega-datasets: the places (one row for each postal
// code of the United States) as a stream of rows, and the airports, read whole because every place needs them all.
import { createReadStream, readFileSync } from 'node:fs'
import { parse } from 'csv-parse'
import { parse as parseWhole } from 'csv-parse/sync'

const packageUrl = import.meta.resolve('vega-datasets')
const placesUrl = new URL('../data/zipcodes.csv', packageUrl)
const airportsUrl = new URL('../data/airports.csv', packageUrl)

export function streamPlaces(rowLimit = Infinity) {
  const parser = parse({ columns: true, ...(Number.isFinite(rowLimit) && { to: rowLimit }) })
  return createReadStream(placesUrl)
    .on('error', error => parser.destroy(error))
    .pipe(parser)
}

// No field of the file holds a line break, so its rows are its lines less the heading.
export function countPlaces() {
  return readFileSync(placesUrl, 'utf8').trimEnd().split('\n').length - 1
}

export function readAirports() {
  return parseWhole(readFileSync(airportsUrl), { columns: true }).map(({ iata, latitude, longitude }) => ({
    iata,
    latitude: Number(latitude),
    longitude: Number(longitude),
  }))
}

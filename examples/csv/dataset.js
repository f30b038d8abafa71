// The two data sets of this example, from the package vega-datasets: the places (one row for each postal code of the United States), and
// the airports. The airports are read at once, because every place needs all of them.
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse/sync'

const packageUrl = import.meta.resolve('vega-datasets')
const placesUrl = new URL('../data/zipcodes.csv', packageUrl)
const airportsUrl = new URL('../data/airports.csv', packageUrl)
const lineEnd = '\n'.charCodeAt(0)

/** Writes a file of as many places, without the heading. Repeats the data set where it has too few. */
export async function writePlaces(path, rowCount) {
  const lines = readFileSync(placesUrl, 'utf8').trimEnd().split('\n').slice(1)
  function* parts() {
    for (let left = rowCount; left > 0; left -= lines.length) yield `${lines.slice(0, left).join('\n')}\n`
  }
  await pipeline(Readable.from(parts()), createWriteStream(path))
}

/** The file as buffers of about `bytes` bytes. Each ends at the end of a line, because no field contains a line break. */
export async function* readChunks(path, bytes) {
  let rest = Buffer.alloc(0)
  for await (const read of createReadStream(path, { highWaterMark: bytes })) {
    const end = read.lastIndexOf(lineEnd) + 1
    yield Buffer.concat([rest, read.subarray(0, end)])
    rest = read.subarray(end)
  }
}

export function parsePlaces(chunk) {
  return parse(chunk, { columns: ['zipCode', 'latitude', 'longitude', 'city', 'state', 'county'] })
}

export function readAirports() {
  return parse(readFileSync(airportsUrl), { columns: true }).map(({ iata, latitude, longitude }) => ({
    iata,
    latitude: Number(latitude),
    longitude: Number(longitude),
  }))
}

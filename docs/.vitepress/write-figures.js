// Writes everything that the documentation takes from the newest run in bench/results: the figures of the pages and the charts.
//   npm run docs:figures
import { drawCharts } from './charts.js'
import { writeFigures } from './figures.js'

const changed = writeFigures()
drawCharts()
console.log(changed.length === 0 ? 'The pages have the figures already.' : `Changed: ${changed.join(', ')}`)

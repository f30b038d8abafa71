// lido/body and lido/express in CommonJS.
import { jsonReader } from 'lido/body'

import lidoExpress = require('lido/express')

const parse = lidoExpress.json({ limit: 1_000_000, strict: false })
const read = jsonReader({ inflate: false })
void Promise.all([parse.close(), read.close()])

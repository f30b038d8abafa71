// The common list of tests, in groups.
import { contexts } from './context.js'
import { endings } from './endings.js'
import { errors } from './errors.js'
import { functions } from './functions.js'
import { limits } from './limits.js'
import { loading } from './loading.js'
import { renewal } from './renewal.js'
import { resizing } from './resizing.js'
import { surroundings } from './surroundings.js'
import { values } from './values.js'

export const promises = {
  'payloads and results': values,
  errors,
  'order and limits': limits,
  'loading of files': loading,
  'cancelling, closing and exits': endings,
  'replaced workers': renewal,
  'resize()': resizing,
  'environment of workers': surroundings,
  context: contexts,
  'functions as text': functions,
}

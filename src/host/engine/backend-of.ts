// Creates the backend that the option `backend` names.
import { unreachable } from '../../shared/platform/invariant.js'
import type { Backend } from '../backend/backend.js'
import { InlineBackend } from '../backend/inline-backend.js'
import { processBackend } from '../backend/process-backend.js'
import { ThreadBackend } from '../backend/thread-backend.js'
import { loadOnce } from '../options/handler-module.js'
import type { CoreSettings } from '../options/settings.js'

export function backendOf({ backend, size, module }: CoreSettings): Backend {
  switch (backend) {
    case 'thread':
      return new ThreadBackend()
    case 'process':
      return processBackend
    case 'inline':
      return new InlineBackend(size, module === undefined ? null : loadOnce(module))
    default:
      return unreachable(backend)
  }
}

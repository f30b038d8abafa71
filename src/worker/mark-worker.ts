// Marks this thread as a pool's worker by being loaded: before any module that asks, so it is the entry's first import.
import { globalSymbol } from '../shared/platform/global-symbol.js'

// The pool's own file is nobody's main program: where modules look for the one that they belong to, there is none.
process.mainModule = undefined

Object.defineProperty(globalThis, globalSymbol('worker'), { value: true })

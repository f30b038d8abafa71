// Marks this thread as a pool's worker by being loaded: before any module that asks, so it is the entry's first import.
import { brandOf } from '../shared/base/brand.js'

Object.defineProperty(globalThis, brandOf('worker'), { value: true })

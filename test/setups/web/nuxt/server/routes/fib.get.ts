import { answer } from '../lib/pool.ts'

export default defineEventHandler(() => answer())

// Piscina's registry symbols and the version whose contract this door keeps.
export { transferableSymbol, valueSymbol } from '../../index.js'

/** The property of a task object that a user's own queue reads. */
export const queueOptionsSymbol: unique symbol = Symbol.for('Piscina.queueOptions') as never

/** Programs compare it with the Piscina they were written for. */
export const version = '5.3.2'

// A handler like the handlers of programs that use fastify-piscina.
module.exports = ({ a, b }) => {
  if (b === undefined) throw new Error('b is missing')
  return a + b
}
module.exports.negative = number => -number

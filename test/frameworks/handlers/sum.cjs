// A handler in the manner of the programs that fastify-piscina is for.
module.exports = ({ a, b }) => {
  if (b === undefined) throw new Error('b is missing')
  return a + b
}
module.exports.negative = number => -number

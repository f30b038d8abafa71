// The handler of the pools that run a module's default export: lido, piscina, tinypool.
export default payload => payload

// Returns the size of the payload.
module.exports = buffer => buffer.byteLength

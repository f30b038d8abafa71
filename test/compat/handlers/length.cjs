// The size of what arrived.
module.exports = buffer => buffer.byteLength

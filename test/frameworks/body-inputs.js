// Valid and invalid bodies, with options. The parser of the framework and lido must treat them in the same way.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { chunk, lastChunk } from '../helpers/raw-http.js'

const json = 'application/json'
const typed = (type, extra = {}) => ({ 'content-type': type, ...extra })
const chunked = { 'transfer-encoding': 'chunked' }
const utf32 = (text, isLittle) => {
  const bytes = Buffer.alloc(text.length * 4)
  for (let at = 0; at < text.length; at++) {
    if (isLittle) bytes.writeUInt32LE(text.charCodeAt(at), at * 4)
    else bytes.writeUInt32BE(text.charCodeAt(at), at * 4)
  }
  return bytes
}
const sample = JSON.stringify({
  name: 'Åse',
  list: [1, 2.5e10, -0, null, true],
  nested: { text: '"\\\n€😀' },
})
const wide = Buffer.from(sample, 'utf16le')

function input(title, body, headers = typed(json), options = {}) {
  return { title, request: { headers, body }, options }
}

export const inputs = [
  input('an object', sample),
  input('an array', '[1, "two", {"three": 3}]'),
  input('white space around an object', ' \r\n\t {"a": 1} \n'),
  input('a repeated key', '{"a":1,"a":2}'),
  input('__proto__ and constructor keys', '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}}}'),
  input('numbers that a double cannot hold', '[1e400, 12345678901234567890, 0.1]'),
  input('escaped lone surrogates', '{"high":"\\ud800","low":"\\udc00","both":"\\ud83d\\ude00"}'),
  input('invalid UTF-8', Buffer.from('7b2261223a22c3282080e28222ff7d', 'hex')),
  input(
    'invalid UTF-8 in a string',
    Buffer.from('7b2261223a22c328808080e282ed a080f022227d'.replace(' ', ''), 'hex'),
  ),
  input('a string that ends inside a UTF-8 sequence', Buffer.from('7b2261223a22e282', 'hex')),
  input('100,000 nested arrays', '['.repeat(100_000) + ']'.repeat(100_000), undefined, { limit: '1mb' }),
  input('100,000 nested objects that are never closed', '{"a":'.repeat(100_000), undefined, { limit: '1mb' }),
  input('a request without a body', null),
  input('an empty body', ''),
  input('an empty body with strict: false', '', undefined, { strict: false }),
  input('a blank body', '  \n '),
  input('a blank body with strict: false', '  ', undefined, { strict: false }),
  input('a bare string', '"text"'),
  input('a bare number after blanks', '  \n 12345678901234567890123456789012345678901234567890'),
  input('a bare value with strict: false', 'null', undefined, { strict: false }),
  input('a body of hash signs', '##'),
  input('a truncated object', '{"a": [1, 2'),
  input('a trailing comma', '{"a": 1,}'),
  input('two values', '{"a":1}{"b":2}'),
  input('a syntax error after 10,000 bytes', `[${'1,'.repeat(5000)}x]`),
  input('a control character in a string', '["a\u0001b"]'),
  input('a byte order mark', `\ufeff${sample}`),
  input('only a byte order mark', '\ufeff'),
  input('two byte order marks', `\ufeff\ufeff${sample}`),
  input(
    'UTF-16 with a byte order mark',
    Buffer.concat([Buffer.from([0xff, 0xfe]), wide]),
    typed(`${json}; charset=utf-16`),
  ),
  input('UTF-16 without a byte order mark', wide, typed(`${json}; charset=utf-16`)),
  input('big-endian UTF-16', Buffer.from(wide).swap16(), typed(`${json}; charset=UTF-16BE`)),
  input('UTF-16LE of odd length', wide.subarray(0, -1), typed(`${json}; charset=utf-16le`)),
  input('UTF-32', utf32('{"a":"é"}', true), typed(`${json}; charset=utf-32le`)),
  input('big-endian UTF-32', utf32('\ufeff{"a":"é"}', false), typed(`${json}; charset=utf-32`)),
  input('UTF-7', '{"a":"+AOk-"}', typed(`${json}; charset=utf-7`)),
  input('a charset other than Unicode', sample, typed(`${json}; charset=iso-8859-1`)),
  input('an unknown charset', sample, typed(`${json}; charset=utf-99`)),
  input('a content type other than JSON', sample, typed('text/plain')),
  input('a missing content type', sample, {}),
  input('an invalid content type', sample, typed('application/json; charset="')),
  input('a content type that the type option accepts', sample, typed('application/vnd.api+json'), {
    type: '*/*',
  }),
  input('a gzip body', gzipSync(sample), typed(json, { 'content-encoding': 'gzip' })),
  input('a deflate body', deflateSync(sample), typed(json, { 'content-encoding': 'Deflate' })),
  input('a brotli body', brotliCompressSync(sample), typed(json, { 'content-encoding': 'br' })),
  input('a gzip body with inflate: false', gzipSync(sample), typed(json, { 'content-encoding': 'gzip' }), {
    inflate: false,
  }),
  input(
    'a truncated gzip body',
    gzipSync(sample).subarray(0, -12),
    typed(json, { 'content-encoding': 'gzip' }),
  ),
  input('a plain body that is declared as gzip', sample, typed(json, { 'content-encoding': 'gzip' })),
  input(
    'a gzip body with trailing bytes',
    Buffer.concat([gzipSync(sample), Buffer.alloc(3)]),
    typed(json, { 'content-encoding': 'gzip' }),
  ),
  input('an unknown content encoding', sample, typed(json, { 'content-encoding': 'lzma' })),
  input('a gzip bomb', gzipSync(Buffer.alloc(20_000_000, ' ')), typed(json, { 'content-encoding': 'gzip' })),
  input('a body with a content-length over the limit', JSON.stringify('x'.repeat(2000)), undefined, {
    limit: 1000,
  }),
  input('a body of exactly the limit', JSON.stringify(['x'.repeat(996)]), undefined, { limit: 1000 }),
  input('a chunked body', Buffer.concat([chunk('{"a":'), chunk('1}'), lastChunk]), typed(json, chunked)),
  input(
    'a chunked body over the limit',
    Buffer.concat([chunk('['), chunk('1,'.repeat(1000)), chunk('1]'), lastChunk]),
    typed(json, chunked),
    { limit: 1000 },
  ),
  input(
    'a letter that is split across two chunks',
    Buffer.concat([
      chunk(Buffer.from('["\xc3', 'latin1')),
      chunk(Buffer.from('\xa9"]', 'latin1')),
      lastChunk,
    ]),
    typed(json, chunked),
  ),
  input('a body that verify() refuses', sample, undefined, {
    verify() {
      throw new Error('not today')
    },
  }),
  input('a body that verify() refuses with a status of its own', sample, undefined, {
    verify() {
      throw Object.assign(new Error('sign it'), { status: 401, type: 'signature.missing' })
    },
  }),
]

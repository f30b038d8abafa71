// Bodies good and bad, each with the options under which the framework's own parser and ours must agree.
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
  input('white space around', ' \r\n\t {"a": 1} \n'),
  input('one key twice', '{"a":1,"a":2}'),
  input('keys that look like a prototype', '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}}}'),
  input('numbers beyond what a double holds', '[1e400, 12345678901234567890, 0.1]'),
  input('surrogates alone, escaped', '{"high":"\\ud800","low":"\\udc00","both":"\\ud83d\\ude00"}'),
  input('broken UTF-8', Buffer.from('7b2261223a22c3282080e28222ff7d', 'hex')),
  input(
    'broken UTF-8 in a string',
    Buffer.from('7b2261223a22c328808080e282ed a080f022227d'.replace(' ', ''), 'hex'),
  ),
  input('a string that ends in the middle of a letter', Buffer.from('7b2261223a22e282', 'hex')),
  input('100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), undefined, { limit: '1mb' }),
  input('100,000 levels that are never closed', '{"a":'.repeat(100_000), undefined, { limit: '1mb' }),
  input('no body at all', null),
  input('an empty body', ''),
  input('an empty body where anything is accepted', '', undefined, { strict: false }),
  input('blanks only', '  \n '),
  input('blanks only where anything is accepted', '  ', undefined, { strict: false }),
  input('a bare string', '"text"'),
  input('a bare number after blanks', '  \n 12345678901234567890123456789012345678901234567890'),
  input('a bare value where anything is accepted', 'null', undefined, { strict: false }),
  input('hashes', '##'),
  input('an object cut short', '{"a": [1, 2'),
  input('a comma too many', '{"a": 1,}'),
  input('two values', '{"a":1}{"b":2}'),
  input('an error far inside', `[${'1,'.repeat(5000)}x]`),
  input('a control character in a string', '["a\u0001b"]'),
  input('a byte order mark', `\ufeff${sample}`),
  input('nothing but a byte order mark', '\ufeff'),
  input('two byte order marks', `\ufeff\ufeff${sample}`),
  input(
    'UTF-16 with a mark',
    Buffer.concat([Buffer.from([0xff, 0xfe]), wide]),
    typed(`${json}; charset=utf-16`),
  ),
  input('UTF-16 without a mark', wide, typed(`${json}; charset=utf-16`)),
  input('UTF-16, big end first', Buffer.from(wide).swap16(), typed(`${json}; charset=UTF-16BE`)),
  input('UTF-16LE of odd length', wide.subarray(0, -1), typed(`${json}; charset=utf-16le`)),
  input('UTF-32', utf32('{"a":"é"}', true), typed(`${json}; charset=utf-32le`)),
  input('UTF-32, big end first', utf32('\ufeff{"a":"é"}', false), typed(`${json}; charset=utf-32`)),
  input('UTF-7', '{"a":"+AOk-"}', typed(`${json}; charset=utf-7`)),
  input('a charset that is not of Unicode', sample, typed(`${json}; charset=iso-8859-1`)),
  input('a charset that does not exist', sample, typed(`${json}; charset=utf-99`)),
  input('another content type', sample, typed('text/plain')),
  input('no content type', sample, {}),
  input('a content type that is none', sample, typed('application/json; charset="')),
  input('a content type that is asked for', sample, typed('application/vnd.api+json'), { type: '*/*' }),
  input('gzip', gzipSync(sample), typed(json, { 'content-encoding': 'gzip' })),
  input('deflate', deflateSync(sample), typed(json, { 'content-encoding': 'Deflate' })),
  input('br', brotliCompressSync(sample), typed(json, { 'content-encoding': 'br' })),
  input('gzip that is not accepted', gzipSync(sample), typed(json, { 'content-encoding': 'gzip' }), {
    inflate: false,
  }),
  input('gzip cut short', gzipSync(sample).subarray(0, -12), typed(json, { 'content-encoding': 'gzip' })),
  input('what is no gzip', sample, typed(json, { 'content-encoding': 'gzip' })),
  input(
    'gzip with bytes behind it',
    Buffer.concat([gzipSync(sample), Buffer.alloc(3)]),
    typed(json, { 'content-encoding': 'gzip' }),
  ),
  input('an encoding nobody knows', sample, typed(json, { 'content-encoding': 'lzma' })),
  input('a gzip bomb', gzipSync(Buffer.alloc(20_000_000, ' ')), typed(json, { 'content-encoding': 'gzip' })),
  input('too large by its length', JSON.stringify('x'.repeat(2000)), undefined, { limit: 1000 }),
  input('exactly as large as it may be', JSON.stringify(['x'.repeat(996)]), undefined, { limit: 1000 }),
  input('chunks', Buffer.concat([chunk('{"a":'), chunk('1}'), lastChunk]), typed(json, chunked)),
  input(
    'chunks that are too large',
    Buffer.concat([chunk('['), chunk('1,'.repeat(1000)), chunk('1]'), lastChunk]),
    typed(json, chunked),
    { limit: 1000 },
  ),
  input(
    'a letter in two chunks',
    Buffer.concat([
      chunk(Buffer.from('["\xc3', 'latin1')),
      chunk(Buffer.from('\xa9"]', 'latin1')),
      lastChunk,
    ]),
    typed(json, chunked),
  ),
  input('a body that is refused on sight', sample, undefined, {
    verify() {
      throw new Error('not today')
    },
  }),
  input('a body that is refused with a status of its own', sample, undefined, {
    verify() {
      throw Object.assign(new Error('sign it'), { status: 401, type: 'signature.missing' })
    },
  }),
]

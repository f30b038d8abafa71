// A native addon can be a handler file. The test builds the addon with g++ and the headers of Node.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openFolder } from '../helpers/folder.js'
import { test } from '../helpers/pool-test.js'

const source = `
#include <node_api.h>

static napi_value AddOne(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value given[1], result;
  int32_t number = 0;
  napi_get_cb_info(env, info, &count, given, nullptr, nullptr);
  napi_get_value_int32(env, given[0], &number);
  napi_create_int32(env, number + 1, &result);
  return result;
}

static napi_value Init(napi_env env, napi_value) {
  napi_value handler;
  napi_create_function(env, "addOne", NAPI_AUTO_LENGTH, AddOne, nullptr, &handler);
  napi_set_named_property(env, handler, "addOne", handler);
  return handler;
}

NAPI_MODULE(addon, Init)
`

const headers = [
  join(dirname(dirname(realpathSync(process.execPath))), 'include', 'node'),
  '/usr/include/node',
]
const include = headers.find(folder => existsSync(join(folder, 'node_api.h')))
const hasCompiler = spawnSync('g++', ['--version']).status === 0
let skip = false
if (!hasCompiler) skip = 'there is no g++ here'
else if (include === undefined) skip = "Node's headers are not installed here"

test('a native addon runs as a handler, by default and by name', { skip }, async (open, t) => {
  const folder = openFolder(t)
  const code = folder.write('addon.cc', source)
  const filename = join(folder.path, 'addon.node')
  const flags = ['-shared', '-fPIC', '-DBUILDING_NODE_EXTENSION', `-I${include}`]
  const built = spawnSync('g++', [...flags, code, '-o', filename], { encoding: 'utf8' })
  assert.equal(built.status, 0, built.stderr)
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2 })
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(number => pool.run(number))), [2, 3, 4, 5])
  assert.equal(await pool.run(41, { name: 'addOne' }), 42)
  assert.equal(await open({ maxWorkers: 1 }).run(1, { filename }), 2)
})

// The CPU limit of real control groups lowers the default size. The test needs root and control groups that it may write.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'

const name = `lido-test-${process.pid}`
const folder = existsSync('/sys/fs/cgroup/cpu') ? `/sys/fs/cgroup/cpu/${name}` : `/sys/fs/cgroup/${name}`
const nested = `${folder}/inner`

/** True when this machine has the group, with a limit of 0.8 cores. */
function canLimit() {
  if (availableParallelism() === 1) return false
  try {
    mkdirSync(nested, { recursive: true })
    if (existsSync(`${folder}/cpu.max`)) writeFileSync(`${folder}/cpu.max`, '80000 100000')
    else writeFileSync(`${folder}/cpu.cfs_quota_us`, '80000')
    return true
  } catch {
    removeGroups()
    return false
  }
}

function removeGroups() {
  for (const group of [nested, folder]) {
    try {
      rmdirSync(group)
    } catch {}
  }
}

const skip = canLimit() ? false : 'this test needs two cores, root and a control group with a CPU limit'
const program = `
  require('node:fs').writeFileSync(process.argv[1], String(process.pid))
  const pool = new (require('lido').Pool)({ minWorkers: 0 })
  process.stdout.write(String(pool.maxWorkers))
`

for (const [title, group] of [
  ['the limit of its group', folder],
  ['the limit of the parent of its group', nested],
]) {
  test(`a process with ${title} of 0.8 cores starts at most one worker`, { skip }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program, `${group}/cgroup.procs`], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    assert.equal(stdout, '1')
  })
}

test.after(removeGroups)

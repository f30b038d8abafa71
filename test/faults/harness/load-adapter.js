// Finds a pool's adapter by its name.

export async function loadAdapter(poolName) {
  const adapter = await import(`../pools/${poolName}.js`)
  return { ...adapter, features: new Set(adapter.features) }
}

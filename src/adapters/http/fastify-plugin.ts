// Marks a function as a plugin of Fastify. The package fastify-plugin sets the same symbols.

/** The versions of Fastify whose interface the plugins use. Fastify refuses a plugin when its own version is older. */
const VERSIONS = '>=4'

/** The plugin changes the instance that registers it, without an encapsulated scope. */
export function asPlugin<Plugin extends object>(plugin: Plugin, name: string): Plugin {
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: name,
    [Symbol.for('plugin-meta')]: { name, fastify: VERSIONS },
  })
}

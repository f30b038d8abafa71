/** Bundles the handlers of pools. Pass the result to `plugins` of esbuild, before plug-ins that load the same files. */
declare function lidoBundle(): { name: string; setup(build: any): void }
export default lidoBundle

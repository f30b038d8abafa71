/** Bundles the handlers of pools. Pass the result to `plugins` of Rspack. */
declare function lidoBundle(): { apply(compiler: any): void }
export default lidoBundle

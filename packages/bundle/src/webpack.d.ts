/** Bundles the handlers of pools. Pass the result to `plugins` of webpack. */
declare function lidoBundle(): { apply(compiler: any): void }
export default lidoBundle

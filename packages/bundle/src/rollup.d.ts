/** Bundles the handlers of pools. Pass the result to `plugins` of Rollup. */
declare function lidoBundle(): { name: string }[]
export default lidoBundle

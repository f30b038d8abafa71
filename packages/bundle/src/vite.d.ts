/** Bundles the handlers of pools. Pass the result to `plugins` of Vite. */
declare function lidoBundle(): { name: string }[]
export default lidoBundle

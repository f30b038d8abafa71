/** Bundles the handlers of pools. Pass the result to `plugins` of Rolldown. */
declare function lidoBundle(): { name: string }[]
export default lidoBundle

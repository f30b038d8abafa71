// Runs nothing. Shows what the timers of a trial cost.
export const start = () => ({ run: async payload => payload, stop() {} })

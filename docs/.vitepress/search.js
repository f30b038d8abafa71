// How the search of the site splits, weighs and orders words. The browser gets these functions as text, so they use nothing around them.

export const searchOptions = {
  options: {
    /** Drops words that every question has. Reduces a word to its stem, so that `workers` finds `worker`. */
    processTerm(term) {
      const word = term.toLowerCase()
      if (
        /^(a|an|and|are|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|what|why|with)$/.test(word)
      ) {
        return null
      }
      const stem = word
        .replace(/([^aeious])s$/, '$1')
        .replace(/(e)s$/, '$1')
        .replace(/^(.*[aeiouy].*?)(?:ing|ed)$/, '$1')
      return stem.length < 3 ? word : stem.replace(/e$/, '').replace(/([bdglmnprt])\1$/, '$1')
    },
  },
  searchOptions: {
    /** Short words have no mistakes: `pino` is not `ping`. */
    fuzzy: term => (term.length > 5 ? 0.2 : false),
    prefix: term => term.length > 2,
    maxFuzzy: 2,
    boost: { title: 4, titles: 2, text: 1 },
    /** Pages that answer a question come before pages that list facts, and before the types. */
    boostDocument(id) {
      if (/\/types\//.test(id)) return 0.1
      if (/\/(comparison|design|faults|performance)/.test(id)) return 0.2
      return /\/(guides|recipes|start)/.test(id) && !/\/guides\/(from-|migrate)/.test(id) ? 1.3 : 1
    },
  },
}

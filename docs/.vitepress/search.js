// How the search of the site splits, weighs and orders words. The browser gets these functions as text, so they use nothing around them.

export const searchOptions = {
  options: {
    /** Drops words that every question has. Reduces a word to its stem, so that `workers` finds `worker`. */
    processTerm(term) {
      const word = term.toLowerCase()
      if (
        /^(a|an|and|are|be|can|do|does|for|from|how|i|in|is|it|my|no|not|of|on|or|should|the|to|was|what|why|with)$/.test(
          word,
        )
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
    /**
     * Pages that answer a question come before pages that list facts, and before faults and types.
     * The beginning of a page comes before its parts. Notes and details come last.
     */
    boostDocument(id, _term, { titles } = {}) {
      if (/\/(types|faults)/.test(id)) return 0.1
      if (/\/(comparison|design|performance)/.test(id)) return 0.2
      const isAnswer =
        /\/(guides|recipes|start|troubleshooting)/.test(id) && !/\/guides\/(from-|migrate)/.test(id)
      const place = /#(notes|details)$/.test(id) ? 0.7 : titles?.length === 0 ? 1.3 : 1
      return place * (isAnswer ? 1.3 : 1)
    },
  },
}

// Numbers the objects of the message that the encoder writes, in the order in which they start. The encoder writes an
// object that occurs again as its number.

/** Searching a list of up to this length is up to twice as fast as a Map (benchmark rows P2 and P3). */
const LIST_LENGTH = 256

export class References {
  /** Filled from its end, because `indexOf` searches from a given index to the end. */
  readonly #list: (object | null)[] = new Array(LIST_LENGTH).fill(null)
  #first = LIST_LENGTH
  /** All objects in their order. `null` while the list has room. To add to a set takes one search, and to add to a map takes two. */
  #set: Set<object> | null = null
  /** The objects with their numbers. `null` while no object of the set has occurred again. */
  #map: Map<object, number> | null = null

  /** The number of the object. Returns -1 for a new object and gives it the next number. */
  numberOf(object: object): number {
    if (this.#set !== null) return this.#numberInSet(this.#set, object)
    if (this.#first < LIST_LENGTH) {
      const index = this.#list.indexOf(object, this.#first)
      if (index !== -1) return LIST_LENGTH - 1 - index
    }
    if (this.#first === 0) {
      this.#set = new Set(this.#list.toReversed() as object[])
      return this.#numberInSet(this.#set, object)
    }
    this.#list[--this.#first] = object
    return -1
  }

  #numberInSet(set: Set<object>, object: object): number {
    if (this.#map !== null) return numberInMap(this.#map, object)
    const { size } = set
    set.add(object)
    if (set.size > size) return -1
    this.#map = new Map()
    for (const member of set) this.#map.set(member, this.#map.size)
    return numberInMap(this.#map, object)
  }

  /** Call it after each message, so that this list does not keep the objects in memory. */
  clear(): void {
    for (let index = this.#first; index < LIST_LENGTH; index++) this.#list[index] = null
    this.#first = LIST_LENGTH
    this.#set = null
    this.#map = null
  }
}

function numberInMap(map: Map<object, number>, object: object): number {
  const number = map.get(object)
  if (number !== undefined) return number
  map.set(object, map.size)
  return -1
}

// The objects of the message being written, numbered in the order in which they begin. An object that occurs again is written
// as its number.

/** To search a list of so many objects is several times faster than a Map. */
const LIST_LENGTH = 256

export class References {
  /** Arrays and other objects are searched apart, which halves the search. */
  readonly #arrays = new ObjectList()
  readonly #others = new ObjectList()
  #map: Map<object, number> | null = null
  #count = 0

  /** The number of the object; -1 when it is new, and then it gets the next number. */
  numberOf(object: object, isArray: boolean): number {
    if (this.#map !== null) return this.#numberInMap(this.#map, object)
    const list = isArray ? this.#arrays : this.#others
    const number = list.numberOf(object)
    if (number !== -1) return number
    if (list.isFull) return this.#numberInMap(this.#toMap(), object)
    list.add(object, this.#count++)
    return -1
  }

  #toMap(): Map<object, number> {
    this.#map = new Map([...this.#arrays.entries(), ...this.#others.entries()])
    return this.#map
  }

  #numberInMap(map: Map<object, number>, object: object): number {
    const number = map.get(object)
    if (number !== undefined) return number
    map.set(object, this.#count++)
    return -1
  }

  /** Keeps nothing alive of a message that is written. */
  clear(): void {
    this.#arrays.clear()
    this.#others.clear()
    this.#map = null
    this.#count = 0
  }
}

class ObjectList {
  /** Filled from its end, because `indexOf` searches from a given index to the end. */
  readonly #objects: (object | null)[] = new Array(LIST_LENGTH).fill(null)
  readonly #numbers = new Uint16Array(LIST_LENGTH)
  #first = LIST_LENGTH

  get isFull(): boolean {
    return this.#first === 0
  }

  numberOf(object: object): number {
    if (this.#first === LIST_LENGTH) return -1
    const index = this.#objects.indexOf(object, this.#first)
    return index === -1 ? -1 : this.#numbers[index]!
  }

  add(object: object, number: number): void {
    const index = --this.#first
    this.#objects[index] = object
    this.#numbers[index] = number
  }

  entries(): [object, number][] {
    const entries: [object, number][] = []
    for (let index = LIST_LENGTH - 1; index >= this.#first; index--)
      entries.push([this.#objects[index]!, this.#numbers[index]!])
    return entries
  }

  clear(): void {
    for (let index = this.#first; index < LIST_LENGTH; index++) this.#objects[index] = null
    this.#first = LIST_LENGTH
  }
}

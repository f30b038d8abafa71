// The type of an event emitter of Node, written without the types of Node.

type Listener<Events, Name extends keyof Events> = (
  ...args: Events[Name] extends unknown[] ? Events[Name] : never
) => void
type Arguments<Events, Name extends keyof Events> = Events[Name] extends unknown[] ? Events[Name] : never

/** The methods of Node's `EventEmitter`, for the events of this interface. */
export interface Emitter<Events> {
  on<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  once<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  off<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  addListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  removeListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  prependListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  prependOnceListener<Name extends keyof Events>(event: Name, listener: Listener<Events, Name>): this
  removeAllListeners(event?: keyof Events): this
  emit<Name extends keyof Events>(event: Name, ...args: Arguments<Events, Name>): boolean
  listenerCount(event: keyof Events, listener?: (...args: any[]) => void): number
  listeners(event: keyof Events): ((...args: any[]) => void)[]
  rawListeners(event: keyof Events): ((...args: any[]) => void)[]
  eventNames(): (string | symbol)[]
  setMaxListeners(count: number): this
  getMaxListeners(): number
}

// Keeps what workers run: an entry of its own, so that a bundle has a file for it.
export { estimatePi as default } from './estimate-pi.js'

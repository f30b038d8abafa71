// Finds a browser for the tests of the site.
import { existsSync } from 'node:fs'

/** Where systems install Chromium and Chrome. */
const knownPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** The path of an installed browser, or `undefined`. The environment variable LIDO_BROWSER names another one. */
export const browserPath = process.env.LIDO_BROWSER ?? knownPaths.find(path => existsSync(path))

export const noBrowser = `no browser is installed in a known place; set LIDO_BROWSER to the path of Chromium or Chrome`

/** The tests open only the site on this machine, so the browser needs no sandbox and no service of its maker. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

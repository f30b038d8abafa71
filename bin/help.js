// The help texts of `npx lido`, in 80 columns.

/** `summary`: the line in the list of commands. `text`: the help of the command alone. */
const commands = {
  init: {
    summary: 'adds a handler, a pool and a test to your project',
    text: `npx lido init [folder]

Adds three files: a function that runs in a worker, a pool, and a test. The
files are ES modules, CommonJS or TypeScript, as your project is. Without
folder they go into src, or into this folder if it has no src.

The command overwrites no file.
`,
  },
  bench: {
    summary: 'measures your function in a pool and on the main thread',
    text: `npx lido bench FILE [--name NAME] [--payload JSON] [options]

Measures a function of FILE on the main thread and in a pool of lido. It also
measures piscina and tinypool if your project has them. Then it says whether a
pool helps. It takes less than a minute, unless a call takes seconds.

  --name NAME            the exported function; without it: the default export
  --payload JSON         the argument of the function
  --payload FILE.json    the argument, from a file
  --payload-module FILE  a module; its default export is the argument, or a
                         function that returns the argument
  --workers N            workers of each pool; without it: the usable cores
  --seconds N            time for each measurement; without it: 2
  --with piscina,tinypool
                         installs these packages with npm into a temporary
                         folder, and measures them, too
  --json                 prints the figures as JSON

Example:
  npx lido bench src/work.js --name countPrimes --payload '{"to":50000}'
`,
  },
  trace: {
    summary: 'records the pools and threads of a program',
    text: `npx lido trace app.js [arguments] [--out FILE] [--seconds N] [--no-cpu]
npx lido trace PID --seconds N [--out FILE] [--no-cpu]

Runs the program, and records its pools and threads until it ends. Options of
lido come before app.js. With PID it records a running program that was started
with LIDO_INSPECT=1.

  --out FILE    the file of the trace; without it: lido-trace.json
  --seconds N   keeps the last N seconds; with PID: records N seconds
  --no-cpu      records no CPU profiles

Open a trace in Chrome DevTools (Performance, Load profile), in
https://ui.perfetto.dev or in https://profiler.firefox.com.
`,
  },
  top: {
    summary: 'shows the pools of a running program',
    text: `npx lido top [PID] [--once]

Shows queue, workers and handlers of a running program that was started with
LIDO_INSPECT=1. Without PID it lists these programs.

  --once   shows one report, and ends
`,
  },
  migrate: {
    summary: 'changes programs of piscina, tinypool and workerpool to lido',
    text: `npx lido migrate [files and folders] [--write]

Changes programs written for piscina, tinypool and workerpool to lido. It needs
the package lido-migrate.

  --write   writes the changes; without it: shows them, and asks on a terminal
`,
  },
  help: {
    summary: 'shows this help, or the help of a command',
    text: `npx lido help [command]

Shows the commands, or how to use one of them.
`,
  },
}

export const commandNames = Object.keys(commands)

/** The help of a command; without a name, the list of commands. */
export function helpOf(name, version) {
  if (name !== undefined) return commands[name].text
  const lines = Object.entries(commands).map(
    ([command, { summary }]) => `  npx lido ${command.padEnd(8)} ${summary}`,
  )
  return `lido ${version}, a worker pool for Node.js

${lines.join('\n')}

The options of a command: npx lido help bench
The version: npx lido --version
`
}

/** The known word that the given one is probably meant to be; `undefined` if none is near. */
export function nearest(word, known) {
  const near = known
    .map(name => ({ name, distance: name.startsWith(word) && word.length > 1 ? 0 : distance(word, name) }))
    .sort((one, other) => one.distance - other.distance)[0]
  return near.distance <= 2 && near.distance < word.length ? near.name : undefined
}

/** How many letters must be added, removed, changed or swapped with the next one. */
function distance(one, other) {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= one.length; row++) {
    rows.push([row])
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      rows[row][column] = Math.min(
        rows[row - 1][column] + 1,
        rows[row][column - 1] + 1,
        rows[row - 1][column - 1] + (isSame ? 0 : 1),
        isSwap ? rows[row - 2][column - 2] + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return rows[one.length][other.length]
}

// Reads the text of a function: its kind, and its free names, which the code around it declares. Reads words and brackets, and no
// grammar. Where it cannot be sure, a name is not free. A name that is declared anywhere in the function is not free either.

export interface FunctionText {
  readonly kind: 'function' | 'arrow' | 'method' | 'class'
  /** Each once, in the order of the text. */
  readonly free: readonly string[]
}

interface Token {
  readonly text: string
  readonly isWord: boolean
  /** The index of the opening bracket around it, or -1. A bracket is not inside itself. */
  readonly outer: number
  /** The index of the other bracket. Other tokens: their own. */
  pair: number
}

/** Spaces and comments; a word; another token. */
const TOKEN =
  /(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)+|((?!\d)(?:[\w$]|[^\0-\x7f\s])+)|(#(?:[\w$]|[^\0-\x7f\s])+|\.?\d(?:[eE][+-]|[\w.])*|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|\?\.(?!\d)|\?{1,2}=?|\.{3}|=>|[=!]==?|\+\+|--|[-+*%&|^<>]+=?|\/=?|[^\s\w"'`#\\@])/y
const REGEXP = /()(\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*)/y
/** A part of a template. */
const TEMPLATE = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*()(`|\$\{)/y
/** A comment in a script, and operators in a module. */
const HTML_COMMENT = /<!--|^[^\S\n]*-->/m

const set = (words: string) => new Set(words.split(' '))
const values = set('this super null true false')
const keywords = set(
  'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with',
)
/** Words of the language in some places. They are never free. */
const contextual = set('async await get set static accessor yield let of using')
/** Before `(…) {` that is no function. */
const controls = set('if for while with switch await')
const beforeBlock = set(') => ; { } else do try finally catch')
const declarations = set('let const var using')
/** Before a name or a pattern in a pattern or in parameters. */
const beforeTarget = set('( [ { , : ...')

/** `null`: the text has a form that this file does not read. */
export function readFunction(source: string): FunctionText | null {
  const tokens: Token[] = []
  const text = (at: number) => tokens[at]?.text ?? ''
  const isProperty = (at: number) => text(at - 1) === '.' || text(at - 1) === '?.'
  return readTokens() && tokens.length > 2 ? { kind: kindOf(), free: freeNames() } : null

  /** Returns false for an unknown form. */
  function readTokens(): boolean {
    let outer = -1
    for (let at = 0; at < source.length; ) {
      const character = source[at]!
      const isTemplate = character === '`' || (character === '}' && text(outer) === '${')
      if (isTemplate && character === '}') outer = add('}', false, outer)
      const isRegExp = character === '/' && !/[/*]/.test(source[at + 1]!) && !isOperand(tokens.length - 1)
      const pattern = isTemplate ? TEMPLATE : isRegExp ? REGEXP : TOKEN
      pattern.lastIndex = at
      const match = pattern.exec(source)
      const token = match?.[1] || match?.[2]
      if (token !== undefined) outer = add(token, Boolean(match![1]), outer)
      if (match === null || outer < -1) return false
      at = pattern.lastIndex
    }
    return outer === -1 && !HTML_COMMENT.test(source)
  }

  /** Returns the bracket around the next token. -2: this one closes nothing. */
  function add(token: string, isWord: boolean, outer: number): number {
    const index = tokens.length
    const isOpening = /^[([{]$|^\$\{$/.test(token)
    if (!/^[)\]}]$/.test(token)) {
      tokens.push({ text: token, isWord, outer, pair: index })
      return isOpening ? index : outer
    }
    const opening = tokens[outer]
    if (opening === undefined) return -2
    opening.pair = index
    tokens.push({ text: token, isWord, outer: opening.outer, pair: outer })
    return opening.outer
  }

  /** After an operand, `/` divides. */
  function isOperand(at: number): boolean {
    const last = text(at)
    if (tokens[at]?.isWord) return !keywords.has(last) || values.has(last) || isProperty(at)
    if (last === ')') return !isControl(tokens[at]!.pair - 1)
    return /^[\]`"'\d#]|^(\+\+|--|\.\d.*|\/[^=].*)$/.test(last)
  }

  function kindOf(): FunctionText['kind'] {
    const start = text(0) === 'async' && text(1) !== '=>' ? 1 : 0
    if (text(0) === 'class' && text(1) !== '(') return 'class'
    if (text(start) === 'function') return 'function'
    return text(tokens[start]!.pair + 1) === '=>' ? 'arrow' : 'method'
  }

  function freeNames(): string[] {
    const declared = new Set<string>()
    const found = new Set<string>()
    const hasClass = tokens.some(token => token.text === 'class')
    /** The brackets that directly contain a declaration. */
    const declaring = new Set<number>()
    for (const [at, { text: name, isWord, outer }] of tokens.entries()) {
      const after = text(at + 1)
      if (!isWord || isProperty(at)) continue
      if (declarations.has(name)) declaring.add(outer)
      if (/^(this|super|arguments)$/.test(name) || (name === 'new' && after === '.')) {
        if (!hasClass && !hasThis(at)) found.add(name === 'new' ? 'new.target' : name)
      } else if (name === 'import') {
        if (after === '.') found.add('import.meta')
        else if (/^['"]\.\.?\//.test(text(at + 2))) found.add(`import(${text(at + 2)})`)
      } else if (keywords.has(name) || contextual.has(name)) continue
      else if (isNamed(at) || isTested(at) || (!/^(\(|\[|\??\.)$/.test(after) && isTarget(at, declaring)))
        declared.add(name)
      else if (!isKey(at) && !(hasClass && mayBeField(at))) found.add(name)
    }
    return [...found].filter(name => !declared.has(name))
  }

  function isNamed(at: number): boolean {
    return /^(function|class)$/.test(text(text(at - 1) === '*' ? at - 2 : at - 1)) || text(at + 1) === '=>'
  }

  /** `typeof` of an unknown name is no error, and guards other uses. */
  function isTested(at: number): boolean {
    return text(text(at - 1) === '(' ? at - 2 : at - 1) === 'typeof'
  }

  /** The name or pattern is the target of a declaration, or in parameters. */
  function isTarget(at: number, declaring: ReadonlySet<number>): boolean {
    const { outer } = tokens[at]!
    const before = text(at - 1)
    if (declarations.has(before) || (before === ',' && declaring.has(outer))) return true
    if (outer < 0 || !beforeTarget.has(before)) return false
    return text(outer) === '(' ? afterParameters(outer) !== '' : isTarget(outer, declaring)
  }

  /** A key of an object, a label, or the name of a method. */
  function isKey(at: number): boolean {
    if (text(at + 1) === ':' || /^(break|continue)$/.test(text(at - 1))) return true
    return text(at + 1) === '(' && text(tokens[at + 1]!.pair + 1) === '{'
  }

  function mayBeField(at: number): boolean {
    return /^[{};]$/.test(text(at - 1)) || isOperand(at - 1)
  }

  /** True in a function that is no arrow function. */
  function hasThis(at: number): boolean {
    const { outer } = tokens[at]!
    if (outer < 0) return false
    const isBody = text(outer) === '{' && text(outer - 1) === ')'
    const parameters = isBody ? tokens[outer - 1]!.pair : outer
    return (afterParameters(parameters) === '{' && text(parameters - 1) !== 'catch') || hasThis(outer)
  }

  /** The text after parameters: `=>`, or the `{` of a function. */
  function afterParameters(at: number): string {
    const after = text(at) === '(' ? text(tokens[at]!.pair + 1) : ''
    return after === '=>' || (after === '{' && !isControl(at - 1)) ? after : ''
  }

  /** A statement, and not a method of this name. Methods are in the brackets of an object or a class. */
  function isControl(at: number): boolean {
    if (!controls.has(text(at)) || isProperty(at)) return false
    const { outer } = tokens[at]!
    return outer < 0 || beforeBlock.has(text(outer - 1))
  }
}

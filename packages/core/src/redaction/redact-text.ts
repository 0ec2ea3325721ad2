// Secrets inside of plain text, such as an error message, a stack trace or a URL: known by what they look like, or by the name
// that stands before them. Every expression here takes linear time: runs are bounded, or end where the next can begin. A text
// without any sign of a secret is seen through once and given back as it is. A long text can be looked at in steps, each of
// which takes a few milliseconds at the most.

import type { Secrecy } from './redact-names.ts'

export const REDACTED = '[redacted]'

/** What a text has that may look like a secret. */
const SHAPE_SIGN =
  /eyJ|rpr_|whsec_|A[KS]IA|-----BEGIN|:\/\/|bearer|basic|\b[sr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox|AIza|npm_|\d(?:[ -]?\d){12}/i
/** Each of the shapes has one of these, but for a credential. Most texts have neither, which is quickly seen. */
const SHAPE_CHARACTER = /[-:_AJ\d]/
const CREDENTIAL_SIGN = /b(?:earer|asic)\s/i
/** What a text has in which a name may stand before a secret; not for names that were added. */
const NAME_SIGN =
  /pass|pwd|pw|pin|secret|token|key|auth|cookie|credential|bearer|sid|session|jwt|otp|card|ccn|cv[vc]|ssn|pan|sig|connection/i

/** Without one of these, no name stands before anything. */
const PAIR_SIGN = /[:=]/

type Rule = readonly [pattern: RegExp, replace: (...found: string[]) => string]

const SHAPES: readonly Rule[] = [
  [/-----BEGIN [A-Z\d ]{1,60}-----[\s\S]*?(?:-----END [A-Z\d ]{1,60}-----|$)/g, () => REDACTED],
  // The user too: some write a token there. The scheme is looked for backwards: forwards, every letter could begin one.
  [/(?<=[a-z][a-z\d+.-]{0,30}:\/\/)[^\s/?#"'<>]*@/gi, () => `${REDACTED}@`],
  // Addresses of stores and the like, where people put a password as it is, slashes and all.
  [
    /\b((?:rediss?|valkeys?|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|amqps?|mssql|sqlserver|ldaps?|smtps?|s?ftp):\/\/)[^\s"'<>]{0,256}@/gi,
    (_, scheme = '') => `${scheme}${REDACTED}@`,
  ],
  [/\b(bearer|basic)(\s{1,5})([\w.~+/=-]{6,})/gi, hideCredential],
  [/(?<![\w-])[\w-]{8,}(?:\.[\w-]+)+\.?/g, hideJwt],
  [/\b(?:rpr_|whsec_)[\w+/=-]{8,}/g, () => REDACTED],
  [/\b(?:sk_(?:live|test)_|rk_(?:live|test)_|sk-|gh[pousr]_|github_pat_|glpat-|npm_|AIza)[\w-]{16,}/g, () => REDACTED],
  [/\bxox[abeprs]-[\w-]{10,}/g, () => REDACTED],
  [/\bA[KS]IA[A-Z\d]{16}\b/g, () => REDACTED],
  [/(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])/g, hideCard],
]

/** `name=`, `name: `, `"name":`, also inside of a text that is quoted in another. */
const NAME = /(?<![\w.-])([a-z_][\w.-]{0,63})(\\{0,3}["']?\s{0,3}[:=]\s{0,3})/gi
const HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$/i
const QUOTED = String.raw`\\{1,3}"[^"\r\n]*"?|"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?`
// What was hidden before stays as it is. A list or an object belongs to its name as a whole.
const VALUE = new RegExp(
  String.raw`\[redacted\]|${QUOTED}|\[[^\]]{0,4000}\]?|\{[^{}]{0,4000}\}?|[^\s"'<>&;,)}\]]+`,
  'y',
)
/** The whole line belongs to such a header. */
const HEADER_VALUE = new RegExp(String.raw`${QUOTED}|[^\s"'][^\r\n]*`, 'y')
const PARAMETER_VALUE = /[^\s"'<>&]+/y

/** A text on its way: what is yielded between two steps says nothing, and the last answer is the text without its secrets. */
export type TextSteps = Generator<void, string, undefined>

interface TextRules {
  readonly whole: (text: string) => string
  readonly inSteps: (text: string) => TextSteps
}

/** How many matches one step takes. */
const MATCHES_PER_STEP = 500

export function createTextRules(secrecyOf: (name: string) => Secrecy, hasOwnNames: boolean): TextRules {
  const mayName = (text: string): boolean => PAIR_SIGN.test(text) && (hasOwnNames || NAME_SIGN.test(text))
  const mayHide = (text: string): boolean => (SHAPE_CHARACTER.test(text) ? SHAPE_SIGN : CREDENTIAL_SIGN).test(text)
  return {
    whole: (text) => {
      let shown = mayName(text) ? ended(withoutNamed(text, secrecyOf)) : text
      if (!mayHide(shown)) return shown
      for (const [pattern, replace] of SHAPES) shown = shown.replace(pattern, replace)
      return shown
    },
    *inSteps(text) {
      let shown = text
      if (mayName(text)) shown = yield* withoutNamed(text, secrecyOf)
      yield
      if (!mayHide(shown)) return shown
      for (const [pattern, replace] of SHAPES) {
        yield
        shown = yield* replaced(shown, pattern, replace)
      }
      return shown
    },
  }
}

function ended(steps: TextSteps): string {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** As `text.replace` does it, in steps. */
function* replaced(text: string, pattern: RegExp, replace: Rule[1]): TextSteps {
  let shown = ''
  let upTo = 0
  let count = 0
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    shown += text.slice(upTo, found.index) + replace(...found)
    upTo = found.index + found[0].length
    if (++count % MATCHES_PER_STEP !== 0) continue
    yield
    pattern.lastIndex = upTo
  }
  return upTo === 0 ? text : shown + text.slice(upTo)
}

/** From name to name: after one that says nothing, what stands beside it is looked at for others. */
function* withoutNamed(text: string, secrecyOf: (name: string) => Secrecy): TextSteps {
  let shown = ''
  let upTo = 0
  let count = 0
  let from = 0
  NAME.lastIndex = 0
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    from = NAME.lastIndex
    if (++count % MATCHES_PER_STEP === 0) {
      yield
      NAME.lastIndex = from
    }
    const [whole, name = '', between = ''] = found
    const secrecy = secrecyOf(name)
    if (secrecy === 'none') continue
    const isParameter = /[?&]/.test(text.charAt(found.index - 1))
    const pattern = isParameter ? PARAMETER_VALUE : HEADER.test(name) ? HEADER_VALUE : VALUE
    pattern.lastIndex = found.index + whole.length
    const value = pattern.exec(text)?.[0] ?? ''
    if (value === '' || isHarmless(value, secrecy, between)) continue
    shown += text.slice(upTo, found.index) + whole + hidden(value, between)
    upTo = found.index + whole.length + value.length
    NAME.lastIndex = upTo
  }
  return upTo === 0 ? text : shown + text.slice(upTo)
}

/** With the quotes that it had, or that its name has: what was JSON stays JSON. */
function hidden(value: string, between: string): string {
  const quote = LEADING_QUOTE.exec(value)?.[0] ?? LEADING_QUOTE.exec(between)?.[0] ?? ''
  return `${quote}${REDACTED}${quote}`
}

const LEADING_QUOTE = /^\\*["']/
const WORD_LENGTH_MAX = 15

/** `token: 1200` is a count, and the `token: else` of a parser is a word; `token=else` is meant as a value. */
function isHarmless(value: string, secrecy: Secrecy, between: string): boolean {
  if (/^(?:true|false|null|undefined)$/.test(value)) return true
  if (secrecy === 'all') return false
  if (/^(?:\d+$|\[[\d\s,]*\]?$|\{)/.test(value)) return true
  return between.includes(':') && !/["'\d]/.test(value) && value.length <= WORD_LENGTH_MAX
}

/** 'Basic authentication' is no credential. */
function hideCredential(whole = '', scheme = '', space = '', credential = ''): string {
  const bare = credential.replace(/[.=]{1,3}$/, '')
  const isWord = /^[a-z]{1,19}$/i.test(bare) && !credential.endsWith('=')
  return isWord ? whole : `${scheme}${space}${REDACTED}`
}

/** A JSON web token begins with '{"', encoded. Looked for once in each run of characters, however often that occurs. */
function hideJwt(run = ''): string {
  const at = run.indexOf('eyJ')
  if (at === -1) return run
  const found = /^eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/.exec(run.slice(at))
  return found === null ? run : `${run.slice(0, at)}${REDACTED}${run.slice(at + found[0].length)}`
}

/** Other numbers may follow the card's, with a space between them. */
function hideCard(found = ''): string {
  const digits = found.replace(SEPARATORS, '')
  let count = digits.length
  let end = found.length
  while (count >= CARD_LENGTH_MIN) {
    if (isCard(digits.slice(0, count))) return `${REDACTED}${found.slice(end)}`
    const space = found.lastIndexOf(' ', end - 1)
    for (let at = Math.max(space, 0); at < end; at++) if (isDigit(found.charCodeAt(at))) count--
    end = space
  }
  return found
}

const SEPARATORS = /[ -]/g
const isDigit = (code: number): boolean => code >= 48 && code <= 57
const CARD_LENGTH_MIN = 13

/** The beginnings and lengths of the card networks, with a check digit that fits. */
const CARD = /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$/

export const isCardNumber = (text: string): boolean => isCard(text.replace(SEPARATORS, ''))

function isCard(digits: string): boolean {
  if (!CARD.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const weighed = index % 2 === 0 ? digit : 2 * digit
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0
}

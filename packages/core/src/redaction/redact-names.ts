// Which names say that what stands beside them is a secret: password, apiKey, X-Auth-Token, DB_PASSWORD, however they are spelt.
// A name is taken apart into words, so that `secretary` and `max_tokens` are left alone. What a value looks like is in
// redact-text.ts.

/** What is hidden beside a name: everything, nothing, or everything but numbers, which beside `tokens` are counts. */
export type Secrecy = 'none' | 'text' | 'all'

const SECRETS: ReadonlySet<string> = new Set(
  `password passwords passwd passphrase pwd passcode secret secrets credential credentials authorization cookie cookies apikey apikeys
  accesskey secretkey privatekey signingkey encryptionkey masterkey sshkey accountkey authkey licensekey bearer jwt otp
  basicauth authheader sessionid connectionstring creditcard cardnumber cardno ccnumber cvv cvc ssn`.split(/\s+/),
)
/** Secrets if they are the whole name: inside of another they mean all sorts of things. */
const SECRETS_ALONE: ReadonlySet<string> = new Set('pass auth pin pw pan sid sig signature xamzsignature'.split(' '))
const TOKENS: ReadonlySet<string> = new Set(['token', 'tokens'])
/** Written in one word, as in `dbpassword`: how such a word ends. */
const SECRET_ENDINGS = ['password', 'passwd', 'secret', 'apikey', 'secretkey', 'privatekey', 'accesskey', 'creditcard']

/** Tokens that open nothing. The retry token is for the executor to pass on, and for people to look things up by. */
const OPEN_TOKENS = /(?:retry|page|next|continuation)tokens?$/
/** A name that ends so tells something about a secret, and not the secret: tokenType, password_changed_at, secretName. */
const ABOUT: ReadonlySet<string> = new Set(
  'at in on by count counts length size policy expires expiry expired ttl type name version enabled required min max limit used usage budget status header'.split(
    ' ',
  ),
)

const WORDS_MAX = 12
const NAME_LENGTH_MAX = 200

export function createNameRules(more: readonly string[], allowed: readonly string[]): (name: string) => Secrecy {
  const own = new Set(more.map(joined))
  const open = new Set(allowed.map(joined))
  return (name) => {
    // Nobody gives a field a name as long as that; what it holds is looked at all the same.
    if (name.length > NAME_LENGTH_MAX) return 'none'
    if (own.size === 0 && !KNOWN.test(name.toLowerCase().replace(SEPARATORS, ''))) return 'none'
    const words = wordsOf(name)
    const whole = words.join('')
    if (open.has(whole)) return 'none'
    if (own.has(whole) || hasRun(words, own)) return 'all'
    if (SECRETS_ALONE.has(whole)) return 'all'
    if (OPEN_TOKENS.test(whole) || ABOUT.has(words.at(-1) ?? '')) return 'none'
    if (hasRun(words, SECRETS) || words.some(isSecretWord)) return 'all'
    return words.some((word) => TOKENS.has(word) || word.endsWith('token')) ? 'text' : 'none'
  }
}

/** Any of the words above, anywhere in a name that is written in one word: most names have none, which is quickly seen. */
const KNOWN = new RegExp([...SECRETS, ...SECRETS_ALONE, ...TOKENS, ...SECRET_ENDINGS].join('|'))
const SEPARATORS = /[^\p{L}\d]+/gu

const isSecretWord = (word: string): boolean => SECRET_ENDINGS.some((ending) => word.endsWith(ending))

const joined = (name: string): string => wordsOf(name).join('')

/** `X-API-Key`, `xApiKey` and `X_API_KEY` are all x, api, key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u, WORDS_MAX + 1)
    .filter((word) => word !== '')
    .slice(0, WORDS_MAX)
}

/** Whether some of the words, one after the other, are one of these names. */
function hasRun(words: readonly string[], names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false
  for (let from = 0; from < words.length; from++) {
    let run = ''
    for (let to = from; to < words.length; to++) {
      run += words[to] ?? ''
      if (names.has(run)) return true
    }
  }
  return false
}

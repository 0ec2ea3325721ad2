// The shape of a message: what stays the same each time one cause strikes. Whatever tells one occurrence from another is folded
// into a mark: numbers, ids, hex, times, durations, sizes, versions, ports, paths, addresses, quoted text, and what a pod or a
// host has behind its name. Words stay, and so do error codes: a status of 404 is another cause than one of 500.
//
// All is done in one pass, by one expression. Its parts stand in their order: larger things first, and what stays before what
// is folded. A part is a run of a character class, or bounded, so that a message takes time in proportion to its length.

// Folded first and cut then, so that the length of an id does not move the cut.
const FOLDED_LENGTH_MAX = 4_000
const SHAPE_LENGTH_MAX = 500

const WORD_START = '(?<![A-Za-z0-9_])'
const WORD_END = '(?![A-Za-z0-9_])'

/** Numbers that say what happened. */
const CODES = `${WORD_START}(?:${[
  'SQLSTATE[ :=[]{1,2}[0-9A-Z]{5}',
  'HRESULT:? 0x[0-9A-Fa-f]{8}',
  '[Ee]rrno[ :=]{1,2}-?\\d{1,5}',
  '(?:[Ee]xit|[Ss]tatus|[Ee]rror|[Rr]esponse|[Rr]eturn|[Rr]esult|[Rr]eason|[Ee]xception|with|HTTP) ?[Cc]ode[ :=]{1,2}(?:0x[0-9A-Fa-f]{8}|-?\\d{1,5})',
  '(?:Code:|[Ee]rror|ERROR|[Ee]xception|Msg|signal|alert number) #?\\d{1,5}',
  '[Ee]xit status:? \\d{1,3}',
  '(?:[Ss]tatus[ :=]{1,2}|HTTP(?:/\\d(?:\\.\\d)?)?[ _])[1-5]\\d\\d',
  '(?:[Ee]rror:|returned|responded|answered|replied)(?: with)? [45]\\d\\d(?=[.,;:)]|$)',
  // Of mail servers: 550 5.1.1
  '[245]\\d\\d[ -][245]\\.\\d{1,3}\\.\\d{1,3}',
].join('|')})(?!\\w|[.,:]\\d)`

/** Names with a number in them. */
const NAMES = `${WORD_START}(?:${[
  '(?:UTF|utf)-?(?:8|16|32)',
  '(?:SHA|sha)-?(?:1|2|3|224|256|384|512)',
  '(?:IP|ip)v[46]',
  '(?:HTTP|http)/?[123](?:\\.[01])?',
  '(?:TLS|SSL)v?[123](?:\\.[0-3])?',
  '[Bb]ase(?:16|32|36|58|62|64)',
  'p(?:50|75|90|95|99)',
  '[Xx]\\.?509',
  '(?:MD5|md5|S3|s3|EC2|ec2|x64|x86|arm64|[Oo][Aa]uth[12]|[uif](?:8|16|32|64)|u?int(?:8|16|32|64)|float(?:16|32|64))',
].join('|')})${WORD_END}`

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const CLOCK = '\\d{1,2}:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?'
const ZONE = '(?:Z| ?[+-]\\d\\d:?\\d\\d| (?:GMT|UTC|CES?T|[ECMP][SD]T)(?:[+-]\\d{4})?)?'
const UNITS = '(?:[nµum]?s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|bytes?|[kKMGT]?i?B|%)'
/** The letters that Kubernetes draws the ends of names from. */
const DRAWN = 'bcdfghjklmnpqrstvwxz'

/** Hex of letters alone is taken for a word, unless it stands where pods and hosts have their ends. These are words there, too. */
const WORDS_OF_HEX = '(?:facaded?s?|decades?|defaced?s?|effaced?s?|acceded?s?|beaded|bedded|dabbed|accedes)'
const MACHINE = '(?:[Pp]od|[Hh]ost|[Nn]ode|[Ii]nstance|[Cc]ontainer|[Mm]achine|[Ww]orker|[Ss]erver)'

/** IPv6 and MAC addresses, with the port behind. */
const COLONS = `(?=[A-Fa-f:]{0,20}\\d)(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f]{1,5}`

const NUMBERS = [
  `${WORD_START}\\d{4}[-./]\\d\\d[-./]\\d\\d(?:[T ]${CLOCK}${ZONE})?`,
  `${WORD_START}(?:${DAY},? )?(?:\\d{1,2}[- ]${MONTH}[- ]\\d{2,4}|${MONTH} \\d{1,2}(?:,? \\d{4})?)(?:,? ${CLOCK}${ZONE})?`,
  `\\[${COLONS}\\](?::\\d{1,5})?`,
  `(?<![\\w:])${COLONS}${WORD_END}`,
  '0x[0-9A-Fa-f]+',
  // 1.2.3-rc.1+5f3a0c1
  `${WORD_START}(?:v\\d+(?:\\.\\d+)+|\\d+(?:\\.\\d+)+(?=[-+]))(?:[-+][0-9A-Za-z]+(?:[.+-][0-9A-Za-z]+)*)?${WORD_END}`,
  // checkout-7d9f8b6c5d-xk2vw
  `(?<=-)(?=[a-z]{0,10}\\d|[${DRAWN}]{8})[0-9a-z]{6,10}-[${DRAWN}2-9]{4,5}(?![0-9A-Za-z-])`,
  `(?<=-)(?=[a-z]{0,4}\\d)[${DRAWN}2-9]{5}(?![0-9A-Za-z-])`,
  `(?<=-[0-9a-z]{1,20}-)[${DRAWN}]{5}(?![0-9A-Za-z-])`,
  // Short hex: c16413
  `(?<![A-Za-z0-9])(?=[0-9A-Fa-f]{4})[A-Fa-f]{1,40}\\d[0-9A-Fa-f]*${WORD_END}`,
  // The same without a digit: host-fecbaa, pod eu-west-fade
  `(?<=-|${WORD_START}${MACHINE}[ =:/])(?!${WORDS_OF_HEX}${WORD_END})[a-f]{6,40}${WORD_END}`,
  `(?<=${WORD_START}${MACHINE}[ =:/][a-z0-9.-]{1,40}-)[a-f]{4,40}${WORD_END}`,
  `(?<=${WORD_START}${MACHINE}-)[a-f]{6,40}${WORD_END}`,
  // All else that begins with a digit: 17, 10.0.0.1:80, 1h30m2.5s, 512Mi, 3 seconds.
  `(?:(?<![^\\s(=:,[])-)?\\d(?:[0-9A-Za-zµ]|[.,:](?=\\d))*(?: ?${UNITS}${WORD_END})?`,
].join('|')

/** Words of two letters, and words with a number inside, that names of classes and functions have. */
const SHORT_WORDS =
  '(?:An|As|At|Be|By|Db|Do|Go|Id|If|In|Io|Ip|Is|Js|My|No|Of|Ok|On|Or|Os|Pr|To|Ts|Ui|Up|Vm|K8s|Log4j)(?![a-z])'
const UP_TO_FOUR = '\\d{0,4}(?!\\d)'
/** A name of words: EC2InstanceV2Client, Content-Type-v2. Each run is as long as it can be, so that there is one way to read it. */
const NAME_OF_WORDS = `(?:[a-z]+(?![a-z])${UP_TO_FOUR})?(?:${[
  `${SHORT_WORDS}${UP_TO_FOUR}`,
  `[A-Z]+(?![A-Z])${UP_TO_FOUR}(?:[a-z]{2,}(?![a-z])${UP_TO_FOUR})?`,
  `[_-](?:[a-z]+(?![a-z])${UP_TO_FOUR}|\\d+(?![0-9A-Za-z]))?`,
].join('|')})*(?![\\w-])`

const IDS = [
  '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}',
  'arn:[a-z-]{1,20}:[\\w.:/*-]+',
  // Base64
  `${WORD_START}(?=[A-Za-z+/]{0,40}\\d)[0-9A-Za-z+/]{40,}={0,2}`,
  `${WORD_START}[A-Za-z]{1,12}_(?=[A-Za-z]*\\d|[a-z]*[A-Z]+[a-z]+[A-Z])[0-9A-Za-z]+${WORD_END}`,
  // Drawn from letters of both cases, digits, _ and -, as nanoid does; what can be read as a name of words is one.
  `(?<![\\w-])(?=[\\w-]{10,64}(?![\\w-]))(?=[A-Za-z_-]{0,64}\\d)(?=[a-z0-9_-]{0,64}[A-Z])(?=[A-Z0-9_-]{0,64}[a-z])(?!${NAME_OF_WORDS})[\\w-]{10,64}`,
  // ULIDs and the like
  `${WORD_START}(?![0-9A-Fa-fx]+${WORD_END})(?=[A-Za-z]*\\d)[0-9A-Za-z]{16,}${WORD_END}`,
].join('|')

const PATHS = [
  '(?:/[\\w.@+-]+){2,}',
  `${WORD_START}[A-Za-z]:(?:[\\\\/][\\w.@+-]+)+`,
  `(?<![\\w.@+-])[\\w.@+-]{1,80}(?:/[\\w.@+-]+){2,}`,
].join('|')

// Not the apostrophe of "can't". The second is Ruby's.
const QUOTED = "\"[^\"]*\"|`\\w+[?!=]?'|(?<!\\w)'[^']*'|`[^`]*`"

const PARTS: readonly (readonly [pattern: string, fold: (found: string) => string])[] = [
  ['(?:GET|POST|PUT|PATCH|DELETE|HEAD) \\S+ [1-5]\\d\\d(?!\\w)', (found) => found.replace(/ \S+ /, ' <url> ')],
  // Before names: f8 is one, and the beginning of an address.
  [`(?<![\\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\\w:])`, () => '<n>'],
  [`${CODES}|${NAMES}`, (found) => found],
  ['[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\\s\'"`)\\]>,]+', () => '<url>'],
  [QUOTED, () => '<text>'],
  [`(?<![\\w.+-])[\\w.+-]{1,64}@(?!v?\\d+\\.\\d)[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8}`, () => '<email>'],
  [IDS, () => '<id>'],
  [PATHS, () => '<path>'],
  [NUMBERS, () => '<n>'],
]
const SHAPE = new RegExp(`${PARTS.map(([pattern]) => `(${pattern})`).join('|')}|[A-Za-z]+ ?`, 'g')

/** The message with everything variable folded away. */
export function messageShape(message: string): string {
  return message
    .slice(0, FOLDED_LENGTH_MAX)
    .replace(/\s{2,}|[^\S ]/g, ' ')
    .trim()
    .replace(SHAPE, folded)
    .replace(/<n>(?:[.,:-]<n>)+/g, '<n>')
    .slice(0, SHAPE_LENGTH_MAX)
}

function folded(found: string, ...groups: readonly (string | undefined)[]): string {
  const part = PARTS[groups.findIndex((group) => group !== undefined)]
  return part === undefined ? found : part[1](found)
}

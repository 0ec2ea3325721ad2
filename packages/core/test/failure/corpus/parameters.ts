// What differs from one line of the corpus to the next. NAMES are words that belong to the cause: a plugin, a table, the job of
// a machine. VALUES only tell one occurrence from another: addresses, ids, times, sizes. Both have the shapes that systems give
// them, and both may be made of others: `web-{nn}` names the machines of one job.

/** A number from 0 up to and without `below`. */
export type Draw = (below: number) => number

const HEX = '0123456789abcdef'
const DIGITS = '0123456789'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const ALNUM = `${LOWER}${LOWER.toUpperCase()}${DIGITS}`
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The letters that Kubernetes draws names from: no vowels, so that no words come out. */
const KUBERNETES = 'bcdfghjklmnpqrstvwxz2456789'

const random =
  (alphabet: string, from: number, to = from) =>
  (draw: Draw) =>
    Array.from({ length: from + draw(to - from + 1) }, () => alphabet[draw(alphabet.length)]).join('')
const between =
  (from: number, to: number, width = 0) =>
  (draw: Draw) =>
    String(from + draw(to - from + 1)).padStart(width, '0')
/** Two spaces or a new line between them. */
const oneOf = (text: string): readonly string[] => text.trim().split(/\s{2,}/)

const NOUNS = oneOf('orders  users  invoices  customer  items  created_at  tenant  shipments  audit_log  name  total')

export const NAMES: Readonly<Record<string, readonly string[]>> = {
  camel: oneOf('getUser  order.items.map  OrderService  db.query  parsePayload  InvoiceMapper  client.send'),
  domain: oneOf('example.com  internal.example.net  corp.example  svc.cluster.local  prod.example.org'),
  dotted: oneOf('orders.{n}.created  orders.{n}.updated  users.{n}.created'),
  host: oneOf(`{slug}.{domain}  {slug}-{nn}.{domain}  ip-10-{byte}-{byte}-{byte}.{region}.compute.internal
    db.{region}.{domain}  {slug}.{hex8}.{domain}`),
  image: oneOf(
    'registry.{domain}/{slug}:{version}  registry.{domain}/{slug}:sha-{hex7}  registry.{domain}/{slug}:latest',
  ),
  instance: oneOf('m{digit}.large  c{digit}g.{digit}xlarge  g{digit}dn.xlarge  t{digit}.micro'),
  money: oneOf('{float} EUR  €{n}  £{n}.{nn}  {n} USD'),
  node: oneOf('ip-10-{byte}-{byte}-{byte}.ec2.internal  gke-prod-pool-{digit}-{hex8}-{podtail4}  node-{nn}'),
  pod: oneOf('{slug}-{podhash}-{podtail}'),
  region: oneOf(
    'eu-west-{digit}  us-east-{digit}  eu-central-{digit}  ap-southeast-{digit}  europe-west{digit}  eastus{digit}',
  ),
  /** As teams name their machines: a place or a job, and something short that tells it apart. */
  shorthost: oneOf(`eu-{hex6}  us-{hex6}  web-{nn}  web{nn}  worker-{n}  db-{digit}  gpu-node-{hex4}  {region}-{hex5}
    ip-{byte}-{byte}-{byte}-{byte}  {pod}`),
  slug: oneOf('checkout  orders-api  billing  web-frontend  image-resizer  search  mailer  ledger-sync  auth'),
  snake: NOUNS,
  statefulpod: ['{slug}-{nn}'],
  upper: NOUNS.map((noun) => noun.toUpperCase()),
  vat: oneOf('DE{digits9}  FR{digits9}  NL{digits9}B{nn}'),
  zone: oneOf('{region}a  {region}b'),
}

export const VALUES: Readonly<Record<string, readonly string[] | ((draw: Draw) => string)>> = {
  address: oneOf('0x{digit}  0x{hex6}  0x{hex12}  0x{hex16}'),
  anyhost: ['{host}'],
  arn: oneOf(`arn:aws:iam::{digits12}:role/{slug}  arn:aws:sqs:{region}:{digits12}:{slug}
    arn:aws:sts::{digits12}:assumed-role/{slug}/i-{hex17}  arn:aws:s3:::{slug}/{s3key}`),
  awsid: random(CROCKFORD, 16),
  base64: (draw) => `${random(`${ALNUM}+/`, 40, 70)(draw)}${['', '=', '=='][draw(3)]}`,
  byte: between(0, 255),
  bytes: oneOf('{n} bytes  {float} MB  {n}KiB  {n} B  {float}GB'),
  chromestamp: oneOf('{month}{day}/{hour}{minute}{minute}.{digits6}'),
  clock: oneOf('{hour}:{minute}:{minute}.{nn}'),
  cuid: (draw) => `c${random(`${LOWER}${DIGITS}`, 24)(draw)}`,
  date: oneOf('{year}-{month}-{day}  {year}.{month}.{day}'),
  day: between(1, 28, 2),
  digit: between(0, 9),
  digits6: random(DIGITS, 6),
  digits9: random(DIGITS, 9),
  digits12: random(DIGITS, 12),
  duration: oneOf(
    '{n}ms  {n} ms  {float}s  {minute}s  {minute}m{minute}s  {hour}h{minute}m{float}s  {float}µs  {minute} s',
  ),
  dynamoid: random(`${LOWER.toUpperCase()}${DIGITS}`, 52),
  email: oneOf('ann{nn}@{domain}  bob.b@{domain}  carol+x@{domain}  dave_{digit}@{domain}'),
  endpoint: oneOf('{ip}:{port}  {ip}:{port}  {ip6}:{port}'),
  float: oneOf('{n}.{digit}  {n}.{nn}'),
  hex2: random(HEX, 2),
  hex4: random(HEX, 4),
  hex5: random(HEX, 5),
  hex6: random(HEX, 6),
  hex7: random(HEX, 7),
  hex8: random(HEX, 8),
  hex10: random(HEX, 10),
  hex12: random(HEX, 12),
  hex16: random(HEX, 16),
  hex17: random(HEX, 17),
  hex24: random(HEX, 24),
  hex32: random(HEX, 32),
  hex40: random(HEX, 40),
  hex64: random(HEX, 64),
  hexbare: oneOf('{hex8}  {hex12}  {hex16}'),
  hexlong: random(HEX.toUpperCase(), 16),
  hour: between(0, 23, 2),
  /** Hex that came out without a digit, beside some that did not. */
  hexletters4: (draw) => random(draw(2) === 0 ? 'abcdef' : HEX, 4)(draw),
  hexletters6: (draw) => random(draw(2) === 0 ? 'abcdef' : HEX, 6)(draw),
  iban: oneOf('DE{digits12}{digits6}{nn}'),
  ip: oneOf('10.{byte}.{byte}.{byte}  192.168.{byte}.{byte}  {byte}.{byte}.{byte}.{byte}'),
  ip6: oneOf('::1  fd00::{hex4}  2001:db8:{hex4}::{hex2}'),
  iso: oneOf(`{date}T{clock}Z  {year}-{month}-{day}T{hour}:{minute}:{minute}Z  {year}-{month}-{day} {hour}:{minute}:{minute}
    {year}-{month}-{day}T{hour}:{minute}:{minute}+02:00  {year}-{month}-{day} {hour}:{minute}:{minute}.{digits6}+00:00`),
  javahash: random(HEX, 6, 8),
  mac: oneOf('{hex2}:{hex2}:{hex2}:{hex2}:{hex2}:{hex2}'),
  memory: oneOf('{n}Ki  {n}Mi  {nn}Gi  {float}Gi'),
  minute: between(0, 59, 2),
  month: between(1, 12, 2),
  msgid: (draw) => `<${random(ALNUM, 20)(draw)}@{domain}>`,
  /** Of any size: as many small ones as large ones. */
  n: (draw) => String(draw(10 ** (1 + draw(6)))),
  nn: between(0, 99, 2),
  path: oneOf(`/srv/app/{slug}/{n}.json  /home/deploy/{slug}/main.js  /tmp/{slug}/{hex8}.tmp  /opt/releases/{n}/config.yaml
    /var/lib/data/{slug}/part-{digits6}.parquet`),
  percent: oneOf('{nn}%  {float} %'),
  phone: oneOf('+49{digits9}  +1{digits9}'),
  pid: between(1, 99_999),
  podhash: (draw) => random(draw(2) === 0 ? KUBERNETES : HEX, 8, 10)(draw),
  podtail: random(KUBERNETES, 5),
  podtail4: random(KUBERNETES, 4),
  port: oneOf('80  443  3000  3306  5432  6379  8080  9092  27017  3{n}'),
  rfcdate: oneOf('Mon, {day}-Jan-{nn} {hour}:{minute}:{minute} PDT  Fri, {day}-Aug-{nn} {hour}:{minute}:{minute} PDT'),
  route: ['/{slug}/{n}'],
  s3key: oneOf('{slug}/{year}/{month}/{hex8}.csv  {slug}/{year}/{month}/{hex8}.png'),
  stripeid: random(ALNUM, 14, 24),
  token: random(ALNUM, 20, 40),
  ulid: (draw) => `01${random(CROCKFORD, 24)(draw)}`,
  url: oneOf(`http://{host}/{slug}/{n}  https://{host}:8080/{slug}/{n}?page=2&limit=50  https://{host}/{slug}/{hex12}
    http://{ip}:{port}/{slug}`),
  uuid: oneOf('{hex8}-{hex4}-{hex4}-{hex4}-{hex12}'),
  version: oneOf(
    '{nn}.{n}.{digit}  v{digit}.{nn}.{digit}  {digit}.{nn}.{digit}-rc.{digit}  v{digit}.{digit}.{digit}-beta{digit}  {digit}.{nn}.{digit}+{hex7}  v{digit}.{nn}.{digit}-{nn}-g{hex7}',
  ),
  winpath: oneOf('C:\\{slug}\\in\\{n}.csv  D:\\{slug}\\out\\{n}.csv'),
  word: NOUNS,
  zoneletter: random('abc', 1),
  year: between(2020, 2029),
}

// One e-mail by SMTP: to a checked address, within a fixed time, whatever the other side does. A message has an id of its own, so
// that a repeated send is the same message to those who get it.

import { type Clock, sleep } from '@reprise/core'
import type { AddressPolicy } from '@reprise/launchers'
import type { SettingsOf } from './settings.ts'

export interface Mail {
  readonly settings: SettingsOf<'email'>
  readonly subject: string
  readonly text: string
  /** Unique to what it says. */
  readonly id: string
  /** Messages with one thread belong together. */
  readonly thread: string
}

export interface SmtpOptions {
  readonly policy: AddressPolicy
  readonly clock: Clock
  /** More certificates to trust. */
  readonly ca?: string | undefined
}

const MAIL_MS_MAX = 15_000
const STEP_MS_MAX = 10_000

/** What the server said. Throws if it did not take the message, or not in time. */
export async function sendMail(mail: Mail, { policy, clock, ca }: SmtpOptions, signal: AbortSignal): Promise<string> {
  const { settings, subject, text, id, thread } = mail
  const { host, port, security, user, password, from, to } = settings
  const done = new AbortController()
  const over = AbortSignal.any([signal, done.signal])
  // Loaded only where there is such a channel.
  const { createTransport } = await import('nodemailer')
  const name = host.includes(':') ? `[${host}]` : host
  const late = sleep(clock, MAIL_MS_MAX, over).then((): never => {
    throw new Error(signal.aborted ? 'The message was given up.' : `${host} did not take the message in time.`)
  })
  late.catch(() => undefined)
  const [address] = await Promise.race([policy.addressesOf(new URL(`http://${name}:${port}`)), late])
  const transport = createTransport({
    // The address that was checked: a second look-up could answer something else.
    host: address?.address ?? host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: { servername: host, ...(ca === undefined ? {} : { ca }) },
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: STEP_MS_MAX,
    greetingTimeout: STEP_MS_MAX,
    socketTimeout: STEP_MS_MAX,
  })
  try {
    const sent = transport.sendMail({
      from,
      to,
      subject,
      text,
      messageId: `<${id}@reprise>`,
      inReplyTo: `<${thread}@reprise>`,
      references: `<${thread}@reprise>`,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    // Whichever of them is late is nobody's any more.
    sent.catch(() => undefined)
    const { response } = await Promise.race([sent, late])
    return response
  } finally {
    done.abort()
    transport.close()
  }
}

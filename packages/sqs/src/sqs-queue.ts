// A queue of SQS, standard or FIFO, as the port wants it. Credentials and region come by the usual chains of the AWS SDK; the
// region is read off the address of the queue if nothing else says it. Times are whole seconds there.

import { createHash } from 'node:crypto'
import type { Message, SQSClient, SQSClientConfig } from '@aws-sdk/client-sqs'
import {
  type Clock,
  InvalidError,
  messageBytes,
  type OutgoingMessage,
  type OutsideQueue,
  type QueueDelivery,
  type QueueFacts,
  type QueueProblem,
  systemClock,
  TooLargeError,
} from '@reprise/core'
import { inBatches } from './batches.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'

export interface SqsQueueOptions {
  /** As in IMPLEMENTATION_SQS_QUEUE_URL: https://sqs.<region>.amazonaws.com/<account>/<name> */
  readonly queueUrl: string
  readonly region?: string | undefined
  /** Another address than that of the region: a VPC endpoint, or a server for tests. */
  readonly endpoint?: string | undefined
  /** For the client of the AWS SDK, such as credentials that its usual chain does not find. */
  readonly client?: SQSClientConfig | undefined
  readonly clock?: Clock | undefined
}

const VISIBILITY_SECONDS_MAX = 43_200
const WAIT_SECONDS_MAX = 20
/** Longer than the longest poll. */
const REQUEST_TIMEOUT_MS = 30_000
const CONNECTION_TIMEOUT_MS = 5_000
/** How long the attributes that hardly change are known for. */
const SETTINGS_FRESH_MS = 60_000
/** What SQS takes where the queue says nothing. */
const MESSAGE_BYTES = 1_048_576
const REGION = /^https?:\/\/(?:sqs\.([a-z0-9-]+)\.|([a-z0-9-]+)\.queue\.)/
/** The name of a FIFO queue ends so. */
const FIFO_SUFFIX = '.fifo'
const GROUP_LENGTH_MAX = 128
const UNFIT_FOR_ID = /[^A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/

export async function openSqsQueue(options: SqsQueueOptions): Promise<OutsideQueue> {
  const { queueUrl, endpoint, client: config } = options
  const name = nameOf(queueUrl)
  const region = options.region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? regionOf(queueUrl)
  if (region === undefined) {
    throw new InvalidError(`The region of the queue '${queueUrl}' is not known. Set sqs.region, or AWS_REGION.`)
  }
  const sdk = await loadSdk()
  const client = new sdk.SQSClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: { requestTimeout: REQUEST_TIMEOUT_MS, connectionTimeout: CONNECTION_TIMEOUT_MS },
    ...config,
  })
  return new SqsQueue({ sdk, client, clock: options.clock ?? systemClock }, queueUrl, name)
}

/** What a queue and its dead-letter queue share. */
interface Access {
  readonly sdk: Sdk
  readonly client: SQSClient
  readonly clock: Clock
}

class SqsQueue implements OutsideQueue {
  readonly name: string
  readonly #access: Access
  readonly #sdk: Sdk
  readonly #client: SQSClient
  readonly #url: string
  #settings: { readonly value: Promise<Settings>; readonly at: number } | null = null
  /** By its ARN, so that another one is found when the queue gets another one. */
  #deadLetters: { readonly arn: string; readonly queue: OutsideQueue } | null = null

  constructor(access: Access, url: string, name: string) {
    this.#access = access
    this.#sdk = access.sdk
    this.#client = access.client
    this.#url = url
    this.name = name
  }

  async facts(): Promise<QueueFacts> {
    const attributes = await this.#attributes()
    const { isFifo, maxMessageBytes, redrive } = settingsOf(attributes)
    return {
      name: this.name,
      isFifo,
      maxMessageBytes,
      visible: numberOf(attributes.ApproximateNumberOfMessages) ?? 0,
      inFlight: numberOf(attributes.ApproximateNumberOfMessagesNotVisible) ?? 0,
      delayed: numberOf(attributes.ApproximateNumberOfMessagesDelayed) ?? 0,
      maxReceives: redrive?.maxReceives ?? null,
    }
  }

  async receive(
    { limit, waitMs, visibilityMs }: Parameters<OutsideQueue['receive']>[0],
    signal?: AbortSignal,
  ): Promise<readonly QueueDelivery[]> {
    const command = new this.#sdk.ReceiveMessageCommand({
      QueueUrl: this.#url,
      MaxNumberOfMessages: limit,
      WaitTimeSeconds: Math.min(Math.floor(waitMs / 1_000), WAIT_SECONDS_MAX),
      VisibilityTimeout: seconds(visibilityMs),
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['ApproximateReceiveCount', 'MessageGroupId', 'SentTimestamp'],
    })
    try {
      const { Messages = [] } = await this.#client.send(command, signal === undefined ? {} : { abortSignal: signal })
      return Messages.flatMap((message) => deliveryOf(message, this.name.endsWith(FIFO_SUFFIX)))
    } catch (error) {
      if (signal?.aborted === true) return []
      throw error
    }
  }

  remove(receipts: readonly string[]): Promise<readonly QueueProblem[]> {
    return inBatches(receipts, (batch) => {
      const Entries = batch.map(({ Id, item }) => ({ Id, ReceiptHandle: item }))
      return this.#client.send(new this.#sdk.DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries }))
    })
  }

  hide(entries: Parameters<OutsideQueue['hide']>[0]): Promise<readonly QueueProblem[]> {
    return inBatches(entries, (batch) => {
      const Entries = batch.map(({ Id, item }) => {
        return { Id, ReceiptHandle: item.receipt, VisibilityTimeout: seconds(item.forMs) }
      })
      return this.#client.send(new this.#sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: this.#url, Entries }))
    })
  }

  async send(messages: readonly OutgoingMessage[]): Promise<readonly QueueProblem[]> {
    const { isFifo, maxMessageBytes } = await this.#known()
    const tooLarge = messages.map((message) => {
      const bytes = messageBytes(message)
      return bytes > maxMessageBytes ? new TooLargeError('message for the queue', bytes, maxMessageBytes) : null
    })
    const sent = messages.filter((_, index) => tooLarge[index] === null)
    const entryOf = ({ Id, item }: { readonly Id: string; readonly item: OutgoingMessage }) => ({
      Id,
      MessageBody: item.body,
      MessageAttributes: Object.fromEntries(
        Object.entries(item.attributes).map(([key, value]) => [key, { DataType: 'String', StringValue: value }]),
      ),
      ...(isFifo ? { MessageGroupId: queueId(item.group), MessageDeduplicationId: queueId(item.dedupeId) } : {}),
    })
    const problems = await inBatches(
      sent,
      (batch) =>
        this.#client.send(new this.#sdk.SendMessageBatchCommand({ QueueUrl: this.#url, Entries: batch.map(entryOf) })),
      messageBytes,
    )
    let next = 0
    return tooLarge.map((problem) => problem ?? problems[next++] ?? null)
  }

  async deadLetters(): Promise<OutsideQueue | null> {
    const { redrive } = await this.#known()
    if (redrive === null) return null
    if (this.#deadLetters?.arn === redrive.arn) return this.#deadLetters.queue
    const [name = '', account] = redrive.arn.split(':').toReversed()
    const owner = account === undefined ? {} : { QueueOwnerAWSAccountId: account }
    const found = await this.#client.send(new this.#sdk.GetQueueUrlCommand({ QueueName: name, ...owner }))
    const queue = new SqsQueue(this.#access, found.QueueUrl ?? '', name)
    this.#deadLetters = { arn: redrive.arn, queue }
    return queue
  }

  close(): void {
    this.#client.destroy()
  }

  /** Read anew once in a while; after an error, at once. */
  #known(): Promise<Settings> {
    const now = this.#access.clock.monotonic()
    if (this.#settings === null || now - this.#settings.at > SETTINGS_FRESH_MS) {
      const value = this.#attributes().then(settingsOf)
      const known = { value, at: now }
      this.#settings = known
      value.catch(() => {
        if (this.#settings === known) this.#settings = null
      })
    }
    return this.#settings.value
  }

  async #attributes(): Promise<Attributes> {
    const command = new this.#sdk.GetQueueAttributesCommand({ QueueUrl: this.#url, AttributeNames: ['All'] })
    return (await this.#client.send(command)).Attributes ?? {}
  }
}

type Attributes = Readonly<Record<string, string | undefined>>

interface Settings {
  readonly isFifo: boolean
  readonly maxMessageBytes: number
  readonly redrive: { readonly arn: string; readonly maxReceives: number | null } | null
}

function settingsOf(attributes: Attributes): Settings {
  const { FifoQueue, MaximumMessageSize, RedrivePolicy } = attributes
  return {
    isFifo: FifoQueue === 'true',
    maxMessageBytes: numberOf(MaximumMessageSize) ?? MESSAGE_BYTES,
    redrive: redriveOf(RedrivePolicy),
  }
}

function redriveOf(text: string | undefined): Settings['redrive'] {
  if (text === undefined || text === '') return null
  const policy = JSON.parse(text) as { readonly deadLetterTargetArn?: unknown; readonly maxReceiveCount?: unknown }
  const { deadLetterTargetArn: arn, maxReceiveCount } = policy
  if (typeof arn !== 'string') return null
  return { arn, maxReceives: numberOf(String(maxReceiveCount)) }
}

function numberOf(text: string | undefined): number | null {
  const value = text === undefined ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : null
}

function deliveryOf(message: Message, isFifo: boolean): QueueDelivery[] {
  const { MessageId, ReceiptHandle, Body, MessageAttributes = {}, Attributes = {} } = message
  if (MessageId === undefined || ReceiptHandle === undefined) return []
  const attributes = Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) => {
    return StringValue === undefined ? [] : [[name, StringValue] as const]
  })
  return [
    {
      messageId: MessageId,
      receipt: ReceiptHandle,
      body: Body ?? '',
      attributes: Object.fromEntries(attributes),
      // On a standard queue a group is about fairness, not about order.
      group: isFifo ? (Attributes.MessageGroupId ?? null) : null,
      receives: numberOf(Attributes.ApproximateReceiveCount) ?? 1,
      sentAt: numberOf(Attributes.SentTimestamp),
    },
  ]
}

/** Rounded up: nothing is to come again too early. */
const seconds = (ms: number): number => Math.min(Math.ceil(Math.max(ms, 0) / 1_000), VISIBILITY_SECONDS_MAX)

/** Groups and dedupe ids have up to 128 plain characters; what does not fit is told apart by its digest. */
function queueId(text: string): string {
  if (text.length <= GROUP_LENGTH_MAX && !UNFIT_FOR_ID.test(text)) return text
  return createHash('sha256').update(text).digest('hex')
}

const regionOf = (url: string): string | undefined => {
  const found = REGION.exec(url)
  return found?.[1] ?? found?.[2]
}

function nameOf(url: string): string {
  const name = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined
  if (name === undefined || name === '') throw new InvalidError(`'${url}' is not the address of a queue.`)
  return decodeURIComponent(name)
}

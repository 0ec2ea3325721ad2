/**
 * Amazon SQS behind the OutsideQueue port of Reprise: a way in for tasks, and a way out for operators' retries. The AWS SDK is
 * an optional peer, and is loaded when a queue is opened.
 */

export { openSqsQueue, type SqsQueueOptions } from './sqs-queue.ts'

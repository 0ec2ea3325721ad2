// The job service: finds durable jobs that have something to do, takes those that no other service moves, and gives each of them
// rounds of its runner. Any number of these services may run. A job has one owner at a time, for speed: what is right does not
// depend on it. An owner promises with each write when the next one comes; who sees none for three times as long takes the job over.

import {
  blockDefinition,
  check,
  isRepriseError,
  JOBS_MOVING,
  type JobDocument,
  jobDefinition,
  type Meter,
  type PolicySource,
  refuseNoEngine,
  type Service,
  type Stored,
  silentMeter,
} from '@reprise/core'
import { BUSY_BEAT_MS, type JobEngine, JobRunner } from './job-runner.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface JobsOptions extends ServiceOptions {
  readonly engine: JobEngine
  readonly meter?: Meter | undefined
  /** For the orchestrator, which gives it to all of its services. */
  readonly policies?: PolicySource | undefined
}

const LOOK_EVERY_MS = 250
const SILENT_BEATS = 3
/** Jobs that one service moves at once; and of one tenant, so that jobs of one tenant that wait for ever keep out nobody. */
const JOBS_MAX = 1_000
const JOBS_PER_TENANT_MAX = 100

export function createJobs(options: JobsOptions): Service {
  check.options(options, SERVICE_CHECKS, 'jobs option')
  refuseNoEngine(options.engine, 'submit', 'createJobs')
  const around = surroundings('jobs', options)
  const { clock, random, log } = around
  const { engine, meter = silentMeter } = options
  return createLoop('jobs', around, () => {
    const jobs = engine.collection(jobDefinition)
    const blocks = engine.collection(blockDefinition)
    const owner = crypto.randomUUID()
    const runners = new Map<string, JobRunner>()
    const sightings = new Map<string, { readonly beats: number; readonly at: number }>()
    let lookAt = clock.monotonic()

    const isFree = ({ id, owner: other, beats, beatMs }: JobDocument): boolean => {
      if (other === null || other === owner) return true
      const seen = sightings.get(id)
      const now = clock.monotonic()
      if (seen?.beats === beats) return now - seen.at >= beatMs * SILENT_BEATS
      sightings.set(id, { beats, at: now })
      return false
    }

    const hasRoom = ({ tenant }: JobDocument): boolean => {
      const own = [...runners.values()].filter((runner) => runner.tenant === tenant)
      return runners.size < JOBS_MAX && own.length < JOBS_PER_TENANT_MAX
    }

    const take = async ({ document, version }: Stored<JobDocument>): Promise<void> => {
      try {
        const { document: taken } = await jobs.update(
          { ...document, owner, beats: document.beats + 1, beatMs: BUSY_BEAT_MS },
          version,
        )
        sightings.delete(document.id)
        runners.set(document.id, new JobRunner({ engine, jobs, blocks, clock, log, meter, owner }, taken))
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_CONFLICT') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
      }
    }

    /** Takes what is free. How soon to look again: sooner while another service may have gone. */
    const lookForJobs = async (): Promise<void> => {
      let cursor: string | undefined
      let isWatching = false
      do {
        const page = await jobs.find({ index: 'moving', value: 'yes', ...(cursor === undefined ? {} : { cursor }) })
        for (const stored of page.items) {
          if (runners.has(stored.document.id) || !hasRoom(stored.document)) continue
          if (isFree(stored.document)) await take(stored)
          else isWatching = true
        }
        cursor = page.next ?? undefined
      } while (cursor !== undefined && runners.size < JOBS_MAX)
      meter.observe(JOBS_MOVING, {}, runners.size)
      lookAt = clock.monotonic() + jitteredMs(isWatching ? BUSY_BEAT_MS : LOOK_EVERY_MS, random)
    }

    return {
      async round(signal) {
        if (clock.monotonic() >= lookAt) await lookForJobs()
        let restMs = Math.max(lookAt - clock.monotonic(), 1)
        const mark = engine.mark()
        for (const [id, runner] of runners) {
          if (signal.aborted) return 0
          const result = await runner.round()
          if (result.kind === 'over') runners.delete(id)
          else restMs = Math.min(restMs, result.restMs)
        }
        const tasks = [...runners.values()].flatMap(({ interest }) => interest).slice(0, 1_000)
        if (tasks.length === 0 || restMs < 20) return restMs
        await engine.wait({ tasks, since: mark }, restMs, signal)
        return 10
      },
      troubled() {
        // What the runners know may be ahead of a store that came back: they begin again from the documents.
        runners.clear()
      },
      async leave() {
        for (const runner of runners.values()) await runner.release()
      },
    }
  })
}

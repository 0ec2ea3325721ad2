// One job: how far it is and how long it takes, its chunks as a grid, what failed by cause, and who did what to it.

import { address, Link, usePart } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { count, moment } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, CommandLine, Copy, shellWord } from '../../parts/texts.tsx'
import { Page, Section } from '../../shell/page.tsx'
import { ChunkGrid } from './chunk-grid.tsx'
import { FailedChunks } from './failed-chunks.tsx'
import { JobActions } from './job-actions.tsx'
import { JOB_LOOKS, type Job, jobSentence, ProgressBar } from './job-words.tsx'

export default function JobPage() {
  const id = usePart('id')
  const asked = useOperation('getJob', { id }, { everyMs: 2_000, keepsPrevious: false })
  const job = asked.data
  return (
    <Page
      title={job?.name ?? id}
      above={
        <>
          <Link to="/jobs" className="link font-normal">
            Jobs
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={
        job && (
          <>
            <StateMark state={JOB_LOOKS[job.status][0]} word={JOB_LOOKS[job.status][1]} /> · {jobSentence(job)}
          </>
        )
      }
      actions={job && <JobActions job={job} />}
    >
      <Answered of={asked} what="the job">
        {(known) => (
          <>
            <ProgressBar job={known} />
            {known.because !== null && (
              <p
                className={`mt-2 break-words ${known.status === 'failed' || known.status === 'stopped' ? 'text-dead' : 'text-dim'}`}
              >
                <bdi>{known.because}</bdi>
              </p>
            )}
            {known.failed > 0 && <FailedChunks job={known} />}
            <ChunkGrid job={known} />
            <div className="grid gap-x-8 md:grid-cols-2">
              <About job={known} />
              <Changes job={known} />
            </div>
          </>
        )}
      </Answered>
    </Page>
  )
}

function About({ job }: { readonly job: Job }) {
  const { id, action, tenant, pool, concurrency, maxPerSecond, tolerate, onFailure, final, startedAt, endedAt } = job
  return (
    <Section title="What it is">
      <Facts
        of={[
          [
            'id',
            <span key="id" className="flex flex-wrap items-center gap-2">
              <bdi className="font-mono text-sm break-all">{id}</bdi> <Copy text={id} />
            </span>,
          ],
          [
            'action',
            <Link key="action" className="link" to={address('/lanes', { action, tenant })}>
              <bdi>{action}</bdi>
            </Link>,
          ],
          ['tenant', <bdi key="tenant">{tenant}</bdi>],
          ['pool', <bdi key="pool">{pool}</bdi>],
          ['open at once', concurrency === null ? 'as many as the queue takes' : count(concurrency)],
          ['handed in', maxPerSecond === null ? null : `at most ${maxPerSecond} a second`],
          [
            'tolerates',
            `${tolerate} failed; then it ${onFailure === 'stop' ? 'hands in no more' : 'goes on, and fails at the end'}`,
          ],
          ['final step', final === null ? null : <bdi key="final">{final}</bdi>],
          ['started', moment(startedAt)],
          ['ended', endedAt === null ? null : moment(endedAt)],
        ]}
      />
      <div className="mt-2">
        <CommandLine command={`npx reprise job watch ${shellWord(id)}`} />
      </div>
    </Section>
  )
}

function Changes({ job: { changes } }: { readonly job: Job }) {
  return (
    <Section title="Who did what">
      <ol>
        {changes.map(({ at, actor, what, reason }) => (
          <li key={`${at} ${what}`} className="border-b border-line py-1">
            <span className="font-semibold">{what}</span>{' '}
            <span className="text-dim">
              by <bdi>{actor}</bdi>, <Ago at={at} />
            </span>
            : <bdi className="break-words">{reason}</bdi>
          </li>
        ))}
      </ol>
    </Section>
  )
}

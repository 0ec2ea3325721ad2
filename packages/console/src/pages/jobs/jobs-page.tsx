// Jobs made of chunks: which are under way, how far they are, and which have stopped and wait for a decision.

import { Link, navigate, setParams, useParam } from '../../address.tsx'
import { useList } from '../../api/operations.ts'
import { count, many, share, span } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Page } from '../../shell/page.tsx'
import { isMoving, JOB_LOOKS, type Job, ProgressBar } from './job-words.tsx'

const SHOWN: Readonly<Record<string, (job: Job) => boolean>> = {
  '': () => true,
  moving: isMoving,
  stopped: ({ status }) => status === 'stopped' || status === 'failed',
  done: ({ status }) => status === 'succeeded' || status === 'cancelled',
}

export default function JobsPage() {
  const [which] = useParam('which')
  const [tenant] = useParam('tenant')
  const { items, error, more, hasMore } = useList('listJobs', {
    limit: 200,
    ...(tenant === '' ? {} : { tenant }),
  })
  const jobs = items?.toReversed()
  const rows = jobs?.filter(SHOWN[which] ?? isMoving)
  const counted = (value: string, word: string) => ({
    value,
    word,
    ...(jobs === undefined ? {} : { count: jobs.filter(SHOWN[value] ?? isMoving).length }),
  })
  return (
    <Page title="Jobs" isFilled={true} sentence={jobs === undefined ? undefined : sentenceOf(jobs, hasMore)}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice
          label="Which jobs"
          param="which"
          choices={[
            counted('', 'All'),
            counted('moving', 'Under way'),
            counted('stopped', 'Stopped or failed'),
            counted('done', 'Done'),
          ]}
        />
        {tenant !== '' && (
          <button type="button" className="link text-sm" onClick={() => setParams({ tenant: null })}>
            of <bdi>{tenant}</bdi>: show all tenants
          </button>
        )}
      </div>
      <Answered of={{ data: rows, error }} what="jobs">
        {(shown) =>
          jobs?.length === 0 ? (
            <Empty title="There is no job yet." command="npx reprise job run page.render --range 0..240 --detach">
              A job is many tasks of one action that belong together: a chunk for each number of a range, or for each
              line of a file. It survives restarts, stops when too much fails, and goes on where it was.
            </Empty>
          ) : shown.length === 0 ? (
            <p className="py-4 text-dim">
              No job is like that.{' '}
              <button type="button" className="link" onClick={() => setParams({ which: null })}>
                Show all
              </button>
            </p>
          ) : (
            <DataTable
              label="Jobs"
              rows={shown}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              isFilled={true}
              about={`${which} ${tenant}`}
              onOpen={({ id }) => navigate(`/jobs/${encodeURIComponent(id)}`)}
              onEnd={more}
            />
          )
        }
      </Answered>
    </Page>
  )
}

function sentenceOf(jobs: readonly Job[], hasMore: boolean): string {
  const least = hasMore ? '≥ ' : ''
  const stopped = jobs.filter(({ status }) => status === 'stopped').length
  const moving = jobs.filter(isMoving).length
  if (stopped > 0)
    return `${least}${many(stopped, 'job has', 'jobs have')} stopped and ${stopped === 1 ? 'waits' : 'wait'} for a decision.`
  return moving > 0 ? `${least}${many(moving, 'job is', 'jobs are')} under way.` : 'No job is under way.'
}

const COLUMNS: readonly Column<Job>[] = [
  {
    id: 'status',
    title: 'State',
    width: '96px',
    cell: ({ status }) => <StateMark state={JOB_LOOKS[status][0]} word={JOB_LOOKS[status][1]} />,
  },
  {
    id: 'name',
    title: 'Job',
    width: 'minmax(0, 1.5fr)',
    cell: ({ id, name }) => (
      <Link to={`/jobs/${encodeURIComponent(id)}`} tabIndex={-1} className="hover:underline">
        <bdi title={id}>{name === id ? name : `${name} · ${id}`}</bdi>
      </Link>
    ),
  },
  {
    id: 'bar',
    title: 'Progress',
    width: 'minmax(60px, 1fr)',
    cell: (job) => (
      <span className="flex items-center gap-2">
        <ProgressBar job={job} />
        <span className="w-10 shrink-0 text-right text-sm">
          {job.fraction === null ? '' : share(job.succeeded + job.failed, job.total ?? 0)}
        </span>
      </span>
    ),
  },
  {
    id: 'failed',
    title: 'Failed',
    width: '64px',
    from: 480,
    isNumber: true,
    cell: ({ failed }) => <span className={failed > 0 ? 'text-dead' : ''}>{count(failed)}</span>,
  },
  {
    id: 'total',
    title: 'Chunks',
    width: '80px',
    from: 620,
    isNumber: true,
    cell: ({ total, received }) => (total === null ? `≥ ${count(received)}` : count(total)),
  },
  {
    id: 'left',
    title: 'Left',
    width: '88px',
    from: 620,
    isNumber: true,
    cell: (job) => (isMoving(job) && job.leftMs !== null ? span(job.leftMs) : ''),
  },
  { id: 'tenant', title: 'Tenant', width: '112px', from: 900, cell: ({ tenant }) => <bdi>{tenant}</bdi> },
  {
    id: 'when',
    title: 'Started',
    width: '76px',
    from: 760,
    isNumber: true,
    cell: ({ startedAt }) => <Ago at={startedAt} />,
  },
]

import { system } from 'rowgate'
import type { Line } from './curl-lines.ts'
import type { NewKeys } from './people.ts'
import { northwind, type Northwind } from './service.ts'

const { solutionId } = northwind

/** Builds a first release unless there is one, so that the printed requests have a result. */
export async function firstRelease(service: Northwind): Promise<string> {
  const { collection } = service.as(system)
  const options = { limit: 1, sort: ['-releaseId'] } as const
  const { items } = await collection('svc-deploy', 'release-queue').filter({ solutionId }, options)
  const [found] = items
  if (found !== undefined) return String(found['releaseId'])
  const releaseNotes = 'Built by the first start'
  const queue = collection('svc-deploy', 'release-queue')
  const queued = await queue.insert({ solutionId, releaseNotes })
  if (queued.rejected) throw new Error(queued.message)
  return String(queued.item['releaseId'])
}

/** Returns requests of a pipeline as curl lines: build, follow and fetch a release. */
export function releaseLines(
  address: string,
  releaseId: string,
  { PIPELINES_KEY = '$PIPELINES_KEY', KEY = '$KEY' }: NewKeys,
): readonly Line[] {
  const get = (path: string, key = PIPELINES_KEY) =>
    `curl '${address}/svc-deploy/${path}' -H "X-API-Key: ${key}"`
  const build = (path: string, body: object) =>
    `${get(path)} -H 'Content-Type: application/json' -d '${JSON.stringify({ solutionId, ...body })}'`
  return [
    { shows: 'the environment', line: get('metadata') },
    { shows: 'without the role Deployment', line: get('metadata', KEY) },
    {
      shows: 'a release that is built at once, with its package',
      line: build('release', { releaseNotes: 'Now', snapshot: true }),
    },
    {
      shows: 'a release that is queued',
      line: build('release-queue', { releaseNotes: 'In the background' }),
    },
    {
      shows: 'how far a build is',
      line: get(`release-queue/${releaseId}?solutionId=${solutionId}`),
    },
    { shows: 'the releases', line: get(`release?solutionId=${solutionId}`) },
    { shows: 'a release with its package', line: get(`release/${releaseId}`) },
  ]
}

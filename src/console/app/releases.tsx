import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAdministration, useCollection } from './access.ts'
import { messageFor, read, type Item } from './api.ts'
import { itemPath, type Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { adminPlace, type InputOptions } from './item-place.ts'
import { NewItem } from './new-item.tsx'
import { go, hashOf, itemHash, partsOf } from './route.ts'
import { announce, LoadProblem, Problem } from './screen.tsx'
import { visible } from './values.ts'
import { settings } from './settings.ts'

interface ScreenOptions {
  readonly collection: Collection
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

const at = adminPlace('releases', 'Releases')
const deployment = `${settings.brand}-deploy`

/** The releases of all solutions: the list, a new build, and one of them. */
export function Releases({ collection, segments: [id], query }: ScreenOptions): VNode {
  const queue = useCollection(`${deployment}/release-queue`)
  if (id === 'new' && queue?.can.insert === true)
    return (
      <NewItem
        collection={queue}
        at={at}
        title="New build"
        label="Build"
        inputs={{ solutionId: SolutionInput }}
        onAdded={({ releaseId }) => go(at.itemOf([String(releaseId)]))}
      />
    )
  if (id !== undefined) return <Release collection={collection} id={partsOf(id)[0] ?? ''} />
  return (
    <Grid
      collection={collection}
      query={query}
      place={['releases']}
      title="Releases"
      above="Administration"
      columns={['name', 'version', 'status', 'snapshot', 'releaseDate', 'built', 'error']}
      hrefOf={({ releaseId }) => itemHash('releases', [], [String(releaseId)])}
      buttons={
        queue?.can.insert === true && (
          <a class="button primary" href={hashOf(['releases', 'new'])}>
            New build
          </a>
        )
      }
    />
  )
}

function SolutionInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  const solutions = useAdministration('solutions')
  const [items, setItems] = useState<readonly Item[]>([])
  useEffect(() => {
    if (solutions?.can.list !== true) return undefined
    const controller = new AbortController()
    const query = new URLSearchParams({ $limit: String(solutions.maximum) })
    read(solutions.path, query, controller.signal).then(
      ({ envelope }) => setItems(envelope.items ?? []),
      () => undefined,
    )
    return () => controller.abort()
  }, [solutions?.path])
  return (
    <select
      id={id}
      aria-invalid={isInvalid}
      aria-describedby={describedBy}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    >
      {text === '' && <option value="">–</option>}
      {items.map(({ solutionId, name }) => (
        <option key={String(solutionId)} value={String(solutionId)}>
          {visible(String(name))}
        </option>
      ))}
    </select>
  )
}

const firstPause = 500
const maxPause = 5000

/** Requests the state of a release, and again at growing intervals while it is built. */
function useBuild(path: string) {
  const [state, setState] = useState<Item | undefined>(undefined)
  const [problem, setProblem] = useState<unknown>(undefined)
  const [attempt, setAttempt] = useState(0)
  const [version, setVersion] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let pause = firstPause
    const look = async (): Promise<void> => {
      const { envelope } = await read(path, undefined, controller.signal)
      const isRunning = ['queued', 'building'].includes(String(envelope.item?.['status']))
      setState(envelope.item)
      setProblem(undefined)
      if (isRunning) {
        timer = setTimeout(run, pause)
        pause = Math.min(pause * 1.5, maxPause)
      } else if (pause > firstPause || attempt > 0) {
        announce(`The build has ended: ${String(envelope.item?.['status'])}.`)
        setVersion((before) => before + 1)
      }
    }
    const run = (): void =>
      void look().catch((error: unknown) => {
        if (!controller.signal.aborted) setProblem(error)
      })
    run()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [path, attempt])
  return { state, problem, version, repeat: () => setAttempt(attempt + 1) }
}

/** A release. */
function Release({
  collection,
  id,
}: {
  readonly collection: Collection
  readonly id: string
}): VNode {
  const { state, problem, version, repeat } = useBuild(itemPath(collection, [id]))
  const status = String(state?.['status'] ?? '')
  return (
    <ItemScreen
      collection={collection}
      itemKey={[id]}
      at={at}
      version={version}
      titleOf={(item) => `${String(item['name'])} ${String(item['version'])}`}
      without={['error']}
    >
      {problem !== undefined && <LoadProblem error={problem} repeat={repeat} />}
      {status === 'failed' && (
        <Problem>{String(state?.['error'] ?? 'The build has failed.')}</Problem>
      )}
      {['queued', 'building'].includes(status) && (
        <p class="links" role="status">
          <progress aria-label="Build" />{' '}
          {status === 'queued' ? 'Waiting for a worker…' : 'Building…'}
        </p>
      )}
      {status === 'built' && <Download id={id} />}
    </ItemScreen>
  )
}

/** Downloads the package of a release. The response has it in base64. */
function Download({ id }: { readonly id: string }): VNode | null {
  const releases = useCollection(`${deployment}/release`)
  const [state, setState] = useState('')
  if (releases?.can.read !== true) return null
  const download = async (): Promise<void> => {
    setState('Downloading…')
    try {
      const { envelope } = await read(itemPath(releases, [id]))
      const { file, fileName } = envelope.item ?? {}
      const bytes = Uint8Array.from(atob(String(file)), (character) => character.charCodeAt(0))
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([bytes]))
      link.download = String(fileName)
      link.click()
      URL.revokeObjectURL(link.href)
      setState(`${bytes.length.toLocaleString('en')} bytes.`)
    } catch (error) {
      setState(messageFor(error))
    }
  }
  return (
    <p class="links">
      <button type="button" disabled={state === 'Downloading…'} onClick={() => void download()}>
        Download the package
      </button>
      <span role="status">{state}</span>
    </p>
  )
}

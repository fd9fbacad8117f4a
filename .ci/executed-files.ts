import { Session } from 'node:inspector/promises'
import type { Profiler } from 'node:inspector'
import { pathToFileURL } from 'node:url'
import { root } from './entries.ts'

const source = pathToFileURL(`${root}src/`).href

/** Counts which files of `src` run a function. It must start after the work that is counted has run at least once. */
export interface ExecutedFiles {
  /** Returns the files that run a function while work is done, the fewest of several attempts. */
  during(work: () => Promise<unknown>): Promise<readonly string[]>
  end(): Promise<void>
}

/** Starts to count calls of functions. */
export async function countExecutedFiles(): Promise<ExecutedFiles> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const taken = async (): Promise<readonly string[]> => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return filesOf(result)
  }
  return {
    async during(work) {
      let fewest: readonly string[] | undefined
      // Work in the background may run at the same time.
      for (let attempt = 0; attempt < 5; attempt++) {
        await taken()
        await work()
        const files = await taken()
        if (fewest === undefined || files.length < fewest.length) fewest = files
      }
      return fewest ?? []
    },
    async end() {
      await session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
    },
  }
}

function filesOf(result: readonly Profiler.ScriptCoverage[]): readonly string[] {
  const files = result
    .filter(({ url }) => url.startsWith(source))
    .filter(({ functions }) => functions.some(isCalled))
    .map(({ url }) => url.slice(source.length).replace(/\?.*$/, ''))
  return [...new Set(files)].toSorted()
}

// The helper of the compiler that names functions is not code of the file.
function isCalled({ functionName, ranges }: Profiler.FunctionCoverage): boolean {
  return functionName !== '__name' && ranges.some(({ count }) => count > 0)
}

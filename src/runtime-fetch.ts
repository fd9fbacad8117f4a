/** Node's fetch is undici. These are the methods of its handlers that matter here, before version 8 and since. */
interface Handler {
  onConnect?: (abort: Abort, ...rest: readonly unknown[]) => void
  onHeaders?: (status: number, headers: readonly unknown[], ...rest: readonly unknown[]) => unknown
  onData?: (chunk: Uint8Array) => unknown
  onResponseStart?: (control: Control, status: number, headers: Headers, text: string) => void
  onResponseData?: (control: Control, chunk: Uint8Array) => void
}

type Abort = (reason: Error) => void
type Headers = Readonly<Record<string, unknown>>

interface Control {
  abort(reason: Error): void
  resume(): void
}

interface Dispatcher {
  readonly isMockActive?: boolean
  dispatch(options: object, handler: Handler): boolean
}

type RuntimeGlobals = Readonly<Record<symbol, Dispatcher | undefined>> & {
  readonly process?: { readonly versions?: { readonly undici?: string } }
}

/** The code of the error of a response with more bytes than allowed. */
export const tooManyBytes = 'ROWGATE_TOO_MANY_BYTES'

const runtime = globalThis as unknown as RuntimeGlobals

/**
 * Calls the `fetch` of the runtime. In Node 20 to 26, it lets two kinds of responses end the process: one with more
 * than five content codings whose connection is closed, and one that ends while it is not being read. Here the first
 * is rejected, and the second is read ahead, up to `maxBytes`. A damaged compressed body may never end there: limit
 * the time.
 */
export function runtimeFetch(url: string, init: RequestInit, maxBytes: number): Promise<Response> {
  if (runtime.process?.versions?.undici === undefined) return fetch(url, init)
  const guardedInit: object = { ...init, dispatcher: guardedDispatcher(maxBytes) }
  return fetch(url, guardedInit)
}

/** Returns a dispatcher in front of the dispatcher of the process, which may be a proxy or a mock of the application. */
function guardedDispatcher(maxBytes: number): Dispatcher {
  const current = (version: number): Dispatcher | undefined =>
    runtime[Symbol.for(`undici.globalDispatcher.${version}`)]
  return {
    get isMockActive() {
      return current(1)?.isMockActive === true
    },
    dispatch: (options, handler) => {
      const newest = handler.onConnect === undefined ? current(2) : undefined
      const dispatcher = (newest ?? current(1)) as Dispatcher
      return dispatcher.dispatch(options, guarded(handler, maxBytes))
    },
  }
}

function guarded(handler: Handler, maxBytes: number): Handler {
  const { onConnect, onHeaders, onData, onResponseStart, onResponseData } = handler
  // It inherits the other methods. All of them share members.
  const own = Object.create(handler) as Handler
  let left = maxBytes
  let abort: Abort
  // Aborted before fetch has responded, it would never end.
  const abortLater = (reason: Error): void => void setTimeout(() => abort(reason))
  const mayStart = (status: number, codings: unknown): boolean => {
    // Nothing reads a body that should not be there.
    if (status === 204 || status === 205 || status === 304)
      abortLater(new Error('the response should have no body'))
    if (status < 200 || String(codings).split(',').length < 6) return true
    abort(new Error('the response has too many content codings'))
    return false
  }
  const count = ({ length }: Uint8Array): void => {
    if (left >= 0 && left < length)
      abortLater(Object.assign(new Error('the response is too large'), { code: tooManyBytes }))
    left -= length
  }
  if (onConnect) {
    own.onConnect = (...given) => {
      abort = given[0]
      onConnect.apply(own, given)
    }
    own.onHeaders = (...given) => {
      const [status, headers] = given
      const isCoding = (index: number) => /^content-encoding$/i.test(String(headers[index]))
      const codings = headers.filter((_, index) => index % 2 === 1 && isCoding(index - 1))
      return mayStart(status, codings) ? onHeaders?.apply(own, given) : true
    }
    own.onData = (chunk) => {
      count(chunk)
      onData?.call(own, chunk)
      return true
    }
  } else {
    own.onResponseStart = (...given) => {
      const [control, status, headers] = given
      abort = (reason) => control.abort(reason)
      if (mayStart(status, headers['content-encoding'])) onResponseStart?.apply(own, given)
    }
    own.onResponseData = (control, chunk) => {
      count(chunk)
      onResponseData?.call(own, control, chunk)
      control.resume()
    }
  }
  return own
}

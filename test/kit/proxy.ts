import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { resetSocket } from './reset-socket.ts'

/** A TCP proxy before a server, with which a test disturbs the network. */
export interface Proxy {
  readonly host: '127.0.0.1'
  readonly port: number
  /** Resets every n-th connection, oldest first, and returns how many were reset. Default: all. */
  reset(every?: number): number
  /** Closes every connection as a server does that ends. */
  end(): void
  /** Holds all data, of new connections too, until `resume`. */
  hold(): void
  resume(): void
  /** Resets all connections and those that arrive, until `admit`. */
  refuse(): void
  /** Passes nothing on any more, and accepts connections that it never answers, until `admit`: these stay silent. */
  silence(): void
  /** Is silent as soon as a client sends a text that a pattern matches, and resolves then. The server does not receive it. */
  silenceAt(pattern: RegExp): Promise<void>
  admit(): void
  /** Resets the connections that were silenced. */
  resetSilent(): void
  /** Leads new connections to another server. */
  lead(to: Address): void
  stop(): Promise<void>
}

interface Address {
  readonly host: string
  readonly port: number
}

/** Starts a proxy before a server. */
export async function startProxy(first: Address): Promise<Proxy> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>()
  const silent = new Set<Socket>()
  const state = { isHeld: false, isRefusing: false, isSilent: false, server: first }
  let awaited: { readonly pattern: RegExp; readonly resolve: () => void } | undefined

  const listener = createServer((client) => {
    if (state.isRefusing) {
      resetSocket(client)
      return
    }
    if (state.isSilent) {
      silent.add(client.resume().on('error', () => undefined))
      return
    }
    const far = connect(state.server.port, state.server.host)
    const pair = [client, far] as const
    pairs.add(pair)
    if (state.isHeld) for (const socket of pair) socket.cork()
    // Before the data is passed on.
    client.on('data', (chunk: Buffer) => {
      if (awaited?.pattern.test(chunk.toString('latin1')) === true) silence()
    })
    const ended = (): void => {
      if (pairs.delete(pair)) for (const socket of pair) socket.destroy()
    }
    pipeline(client, far, ended)
    pipeline(far, client, ended)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))

  function reset(every = 1): number {
    const chosen = [...pairs].filter((_, index) => index % every === 0)
    for (const [client, far] of chosen) {
      resetSocket(client)
      far.destroy()
    }
    return chosen.length
  }

  function silence(): void {
    awaited?.resolve()
    awaited = undefined
    state.isSilent = true
    for (const pair of pairs) {
      pairs.delete(pair)
      for (const socket of pair) {
        // What has arrived is kept, and later data and the end of a side are not read.
        socket.unpipe()
        socket.cork()
        socket.pause()
        silent.add(socket)
      }
    }
  }

  return {
    host: '127.0.0.1',
    port: (listener.address() as AddressInfo).port,
    reset,
    end: () => {
      for (const [client] of pairs) client.end()
    },
    hold: () => {
      state.isHeld = true
      for (const pair of pairs) for (const socket of pair) socket.cork()
    },
    resume: () => {
      state.isHeld = false
      for (const pair of pairs) for (const socket of pair) socket.uncork()
    },
    refuse: () => {
      state.isRefusing = true
      reset()
    },
    silence,
    silenceAt: (pattern) =>
      new Promise((resolve) => {
        awaited = { pattern, resolve }
      }),
    admit: () => {
      awaited = undefined
      Object.assign(state, { isRefusing: false, isSilent: false })
    },
    resetSilent: () => {
      for (const socket of silent) resetSocket(socket)
      silent.clear()
    },
    lead: (to) => {
      state.server = to
    },
    stop: async () => {
      reset()
      for (const socket of silent) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

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
  admit(): void
  stop(): Promise<void>
}

/** Starts a proxy before a server. */
export async function startProxy(server: {
  readonly host: string
  readonly port: number
}): Promise<Proxy> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>()
  const state = { isHeld: false, isRefusing: false }

  const listener = createServer((client) => {
    if (state.isRefusing) {
      resetSocket(client)
      return
    }
    const far = connect(server.port, server.host)
    const pair = [client, far] as const
    pairs.add(pair)
    if (state.isHeld) for (const socket of pair) socket.cork()
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
    admit: () => {
      state.isRefusing = false
    },
    stop: async () => {
      reset()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

// Node can't reset a socket that is being ended: it keeps its handle for as long as the process runs.
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

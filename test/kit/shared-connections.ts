import { randomUUID } from 'node:crypto'

/** How to open and close a connection of a driver. */
export interface Driver<Client> {
  /** Opens a connection to a database, or to the server if the name is empty. */
  open(database: string): Promise<Client>
  end(client: Client): unknown
}

interface Emitter {
  on(event: 'error', listener: () => void): unknown
}

/** Connections to a server that all storages of this process share, so that there are few at any time. */
export interface SharedConnections<Client> {
  /** Waits for a connection to a database. */
  take(database: string): Promise<Client>
  /** Gives a connection back. If it is broken, it is closed. */
  release(client: Client, isBroken: boolean): void
  /** Closes the idle connections to a database. */
  end(database: string): Promise<void>
  /** Returns how many connections are open. */
  count(): number
}

/**
 * Returns shared connections, at most `max` of them. If all are open, the one that was unused for longest is
 * closed for that of another database.
 */
export function sharedConnections<Client extends Emitter>(
  driver: Driver<Client>,
  max: number,
): SharedConnections<Client> {
  const databases = new Map<Client, string>()
  const waiting: (() => void)[] = []
  let idle: Client[] = []
  let opening = 0

  async function opened(database: string): Promise<Client> {
    opening++
    try {
      const client = await driver.open(database)
      client.on('error', () => void remove(client))
      databases.set(client, database)
      return client
    } catch (error) {
      waiting.shift()?.()
      throw error
    } finally {
      opening--
    }
  }

  function remove(client: Client): unknown {
    idle = idle.filter((one) => one !== client)
    return databases.delete(client) ? driver.end(client) : undefined
  }

  return {
    async take(database) {
      for (;;) {
        const own = idle.findLast((one) => databases.get(one) === database)
        if (own !== undefined) {
          idle = idle.filter((one) => one !== own)
          return own
        }
        if (databases.size + opening < max) return opened(database)
        const [other] = idle
        if (other === undefined) await new Promise<void>((resolve) => waiting.push(resolve))
        else remove(other)
      }
    },
    release(client, isBroken) {
      if (isBroken) remove(client)
      else idle.push(client)
      waiting.shift()?.()
    },
    async end(database) {
      await Promise.all(idle.filter((one) => databases.get(one) === database).map(remove))
    },
    count: () => databases.size + opening,
  }
}

const prefix = 'rowgate_test'

/** Returns a new name of a schema or database of a test. It contains the time. */
export function testName(): string {
  return `${prefix}_${Date.now()}_${randomUUID().slice(0, 8)}`
}

/** Returns whether a test run that was killed has left a schema or database behind: its name is a day old. */
export function isLeftOver(name: string): boolean {
  const [, time] = new RegExp(`^${prefix}_(\\d+)_`).exec(name) ?? []
  return time !== undefined && Number(time) < Date.now() - 86_400_000
}

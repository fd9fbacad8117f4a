export const clients = 20
export const savesEach = 5

// A save that has waited so many milliseconds for others may be given up. On a busy machine some are, and are sent again.
const longestWait = 1_900

/** Sends requests from 20 clients, each of which waits for its responses, and counts their statuses. */
export async function together(
  send: (client: number, save: number) => Promise<number>,
): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {}
  const sendUntilKept = async (client: number, save: number): Promise<number> => {
    const began = performance.now()
    const status = await send(client, save)
    const isGivenUp = status === 503 && performance.now() - began >= longestWait
    return isGivenUp ? sendUntilKept(client, save) : status
  }
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let save = 0; save < savesEach; save++) {
        const status = await sendUntilKept(client, save)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
  )
  return statuses
}

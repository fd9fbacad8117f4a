export const clients = 20
export const savesEach = 5

/** Sends requests from 20 clients, each of which waits for its responses, and counts their statuses. */
export async function together(
  send: (client: number, save: number) => Promise<number>,
): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {}
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let save = 0; save < savesEach; save++) {
        const status = await send(client, save)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
  )
  return statuses
}

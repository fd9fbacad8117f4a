import { z } from 'zod'

const facts = {
  releaseId: z.string(),
  solutionId: z.string(),
  name: z.string(),
  version: z.string(),
  releaseNotes: z.string().nullable(),
  releaseDate: z.string(),
}

/** A release as lists have it (section 2.4). */
export type ListedRelease = z.infer<typeof listed>
export const listed = z.object(facts)

/** A release as the queue has it. */
export type QueuedRelease = z.infer<typeof queued>
export const queued = z.object({
  ...facts,
  status: z.enum(['queued', 'building', 'built', 'failed']),
  snapshot: z.boolean(),
})

/** A release with its package; both are null before it is built. */
export type FullRelease = z.infer<typeof full>
export const full = queued.extend({ fileName: z.string().nullable(), file: z.string().nullable() })

/** An answer without its item or items. */
export const refusal = z.object({
  message: z.string().nullable(),
  validations: z.array(z.object({ message: z.string(), field: z.string().optional() })),
})
